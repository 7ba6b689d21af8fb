package entry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// currentMinor is the minor version of Kubernetes whose API this is. Later deprecations do not apply yet.
const currentMinor = 36

// Deprecation is the warning for requests of a deprecated version; empty for others. The API types know their own
// lifecycle (AS pkg/endpoints/deprecation).
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
	if r, ok := obj.(interface{ APILifecycleRemoved() (int, int) }); ok {
		if major, minor := r.APILifecycleRemoved(); major != 0 || minor != 0 {
			text += fmt.Sprintf(", unavailable in v%d.%d+", major, minor)
		}
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
