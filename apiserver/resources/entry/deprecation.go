package entry

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/deprecation"
)

// currentMinor is the minor version of Kubernetes whose API is served. Later deprecations do not apply yet.
const currentMinor = 37

// Deprecation returns the warning for requests of a deprecated version, or an empty string. obj has the version's kind.
func Deprecation(obj runtime.Object) string {
	if !deprecation.IsDeprecated(obj, 1, currentMinor) {
		return ""
	}
	return deprecation.WarningMessage(obj)
}

// RemovedRelease returns the release, such as 1.25, in which Kubernetes stopped serving the version, or an empty
// string.
func (r *Resource) RemovedRelease() string { return deprecation.RemovedRelease(r.New()) }
