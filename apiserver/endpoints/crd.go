package endpoints

// followCRD returns a channel that is closed when the types change, and whether the watch continues: it ends when its
// CustomResourceDefinition has changed (H-38).
func (w *watch) followCRD() (changed <-chan struct{}, going bool) {
	old := w.req.Resource
	if !old.Custom {
		return nil, true
	}
	changed = w.api.registry.Types.Changed()
	now := w.api.registry.Types.Lookup(old.Group, old.Version, old.Plural)
	return changed, now != nil && now.State == old.State
}
