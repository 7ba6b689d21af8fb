package entry

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/finalizers"
)

// For returns the kind-specific input for the decision on a DELETE of obj.
func (d *Deletion) For(obj runtime.Object) finalizers.Kind {
	if d.Kind == nil {
		return finalizers.Kind{Policy: d.Policy}
	}
	k := d.Kind(obj)
	k.Policy = d.Policy
	return k
}
