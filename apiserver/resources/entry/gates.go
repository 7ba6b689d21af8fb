package entry

// Gates are the feature gates of a server, by name. A missing gate is on: all gates that change entries are on by
// default, so nil is the default.
type Gates map[string]bool

// On reports whether a gate is on.
func (g Gates) On(name string) bool {
	on, ok := g[name]
	return on || !ok
}

// Only returns the gates with these names, as options of declared rules.
func (g Gates) Only(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = g.On(name)
	}
	return all
}
