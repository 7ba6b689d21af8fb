package server

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver"
)

// KubernetesVersion is the release whose behaviour is reproduced.
const KubernetesVersion = "1.37.2"

// apiVersion returns the response of /version: the Kubernetes release, from which clients determine their skew, and
// after a plus sign the version of this program. A version may have only one plus sign.
func apiVersion(release string) apiserver.Version {
	var b apiserver.Build
	if info, ok := debug.ReadBuildInfo(); ok {
		b = apiserver.BuildOf(info)
	}
	v := strings.Split(KubernetesVersion, ".")
	return apiserver.Version{
		Major: v[0], Minor: v[1], GitVersion: "v" + KubernetesVersion + "+kubecascade-" + strings.ReplaceAll(release, "+", "."),
		GitCommit: b.Commit, GitTreeState: b.State, BuildDate: b.Date,
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}
