package endpoints

import "slices"

// followCRD applies changes of the CustomResourceDefinition to a watch. It returns a channel that is closed when the
// types change, and whether the watch continues: it ends when its version is no longer served, or when its events would
// take a form that its client does not expect.
func (w *watch) followCRD() (changed <-chan struct{}, going bool) {
	old := w.req.Resource
	if !old.Custom {
		return nil, true
	}
	changed = w.api.registry.Types.Changed()
	now := w.api.registry.Types.Lookup(old.Group, old.Version, old.Plural)
	if now == old {
		return changed, true
	}
	if now == nil || now.Origin != old.Origin || now.Namespaced != old.Namespaced || now.Kind != old.Kind {
		return changed, false
	}
	if w.rendering.Format.As == "Table" && !slices.Equal(now.Table.Columns, old.Table.Columns) {
		return changed, false
	}
	t := w.req.Target
	t.Resource = now
	sel, err := w.api.registry.SelectionOf(t, w.opts)
	if err != nil { // a field that can't be selected any more
		return changed, false
	}
	w.req.Resource, w.sel, w.rendering.Resource = now, sel, now
	w.share()
	return changed, true
}
