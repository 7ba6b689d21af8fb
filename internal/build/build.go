package build

import "runtime/debug"

// Info is the source of a binary.
type Info struct {
	// Commit is the commit of the checkout, State whether the checkout had other changes ("clean" or "dirty"), Date the
	// time of the commit.
	Commit, State, Date string
	// Checkout says that the binary was built from a checkout.
	Checkout bool
}

// Own returns the information of this binary.
func Own() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{}
	}
	return Of(info)
}

// Of returns the information of a binary.
func Of(info *debug.BuildInfo) (i Info) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs":
			i.Checkout = true
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			if i.State = "clean"; s.Value == "true" {
				i.State = "dirty"
			}
		}
	}
	return i
}
