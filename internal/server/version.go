package server

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver"
)

// KubernetesVersion is the release whose behaviour is reproduced.
const KubernetesVersion = "1.36.3"

// Build is the build information of the binary; its fields are empty for go run and source archives.
type Build struct{ Commit, Date, State string }

// ReadBuild returns the build information.
func ReadBuild() (b Build) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			if b.State = "clean"; s.Value == "true" {
				b.State = "dirty"
			}
		}
	}
	return b
}

// apiVersion is the response of /version: the Kubernetes release, by which clients determine their skew, with this
// program's after the plus sign.
func apiVersion(release string) apiserver.Version {
	b := ReadBuild()
	v := strings.Split(KubernetesVersion, ".")
	return apiserver.Version{
		Major: v[0], Minor: v[1], GitVersion: "v" + KubernetesVersion + "+kubecascade-" + release,
		GitCommit: b.Commit, GitTreeState: b.State, BuildDate: b.Date,
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}
