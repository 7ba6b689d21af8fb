package entry

// Gates are the feature gates of a server, by name. One that is missing is on, so nil is the default: all gates that
// change entries are on by default.
type Gates map[string]bool

// On reports whether a gate is on.
func (g Gates) On(name string) bool {
	on, ok := g[name]
	return on || !ok
}

// Only returns the gates of these names, as options of declared rules.
func (g Gates) Only(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = g.On(name)
	}
	return all
}
