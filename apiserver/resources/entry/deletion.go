package entry

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/finalizers"
)

// For returns what the decision on a DELETE of obj needs of its kind.
func (d *Deletion) For(obj runtime.Object) finalizers.Kind {
	if d.Kind == nil {
		return finalizers.Kind{Policy: d.Policy}
	}
	k := d.Kind(obj)
	k.Policy = d.Policy
	return k
}
