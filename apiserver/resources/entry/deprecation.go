package entry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// currentMinor is the minor version of Kubernetes whose API is served. Later deprecations do not apply yet.
const currentMinor = 37

// Deprecation returns the warning for requests of a deprecated version, or an empty string. The Go types of the API
// have methods with their lifecycle (AS pkg/endpoints/deprecation).
func Deprecation(obj runtime.Object, gvk schema.GroupVersionKind) string {
	d, ok := obj.(interface{ APILifecycleDeprecated() (int, int) })
	if !ok {
		return ""
	}
	major, minor := d.APILifecycleDeprecated()
	if major == 0 && minor == 0 || minor > currentMinor {
		return ""
	}
	text := fmt.Sprintf("%s %s is deprecated in v%d.%d+", gvk.GroupVersion(), gvk.Kind, major, minor)
	if release := removedRelease(obj); release != "" {
		text += fmt.Sprintf(", unavailable in v%s+", release)
	}
	if r, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		if by := r.APILifecycleReplacement(); !by.Empty() {
			text += fmt.Sprintf("; use %s %s", by.GroupVersion(), by.Kind)
		}
	}
	return text
}

// RemovedRelease returns the release, such as 1.25, in which Kubernetes stopped serving the version, or an empty string
// (AS pkg/endpoints/deprecation: RemovedRelease).
func (r *Resource) RemovedRelease() string { return removedRelease(r.New()) }

func removedRelease(obj runtime.Object) string {
	r, ok := obj.(interface{ APILifecycleRemoved() (int, int) })
	if !ok {
		return ""
	}
	major, minor := r.APILifecycleRemoved()
	if major == 0 && minor == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", major, minor)
}
