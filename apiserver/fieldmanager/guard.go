package fieldmanager

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// Guard runs mutating admission on an object. If admission leaves its managedFields invalid, Guard restores them and
// warns. Entries that admission has not changed are results of Update or Apply, and valid. Guard returns the
// result of admit.
func Guard(obj metav1.Object, warn func(string), admit func() error) error {
	before := slices.Clone(obj.GetManagedFields())
	if err := admit(); err != nil {
		return err
	}
	if slices.Equal(before, obj.GetManagedFields()) {
		return nil
	}
	if err := managedfields.ValidateManagedFields(obj.GetManagedFields()); err != nil {
		obj.SetManagedFields(before)
		warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an "+
			"outdated mutating admission controller; please fix your requests: %v", err))
	}
	return nil
}
