package apiserver

import "runtime/debug"

// Build holds the source of a binary, as the go command records it. A fact that the binary does not have is empty:
// binaries of go run and of source archives have no commit.
type Build struct {
	// Commit is the commit of the checkout, State whether the checkout had other changes ("clean" or "dirty"), Date the
	// time of the commit.
	Commit, State, Date string
	// Checkout reports whether the binary was built from a checkout.
	Checkout bool
}

// OwnBuild returns the build of this binary.
func OwnBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{}
	}
	return BuildOf(info)
}

// BuildOf returns the build of a binary.
func BuildOf(info *debug.BuildInfo) (i Build) {
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
