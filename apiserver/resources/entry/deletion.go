package entry

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/finalizers"
)

// OrphanDependents is the Policy of kinds whose dependents are orphaned by default (C-23).
const OrphanDependents = finalizers.OrphanDependents

// For returns the kind-specific input for the decision on a DELETE of obj.
func (d *Deletion) For(obj runtime.Object) finalizers.Kind {
	var k finalizers.Kind
	if d.Kind != nil {
		k = d.Kind(obj)
	}
	k.Policy, k.Cleanup = d.Policy, d.Cleanup
	return k
}
