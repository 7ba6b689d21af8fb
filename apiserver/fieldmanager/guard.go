package fieldmanager

import (
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// MaxEntries limits the managedFields of an object that a client or a webhook sends. Each set of fields is compared
// with every other, which takes a tenth of a second at the limit. Most objects have only a few.
const MaxEntries = 2000

// Guard runs mutating admission on an object. If admission makes its managedFields invalid, Guard restores them and
// warns. Unchanged entries are valid, because they are results of Update or Apply. Guard returns the error of
// admit.
func Guard(obj metav1.Object, warn func(string), admit func() error) error {
	before := slices.Clone(obj.GetManagedFields())
	if err := admit(); err != nil {
		return err
	}
	after := obj.GetManagedFields()
	if reflect.DeepEqual(before, after) {
		return nil
	}
	if err := valid(after); err != nil {
		obj.SetManagedFields(before)
		warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an "+
			"outdated mutating admission controller; please fix your requests: %v", err))
	}
	return nil
}

// valid checks managedFields that admission has changed.
func valid(entries []metav1.ManagedFieldsEntry) error {
	if n := len(entries); n > MaxEntries {
		return fmt.Errorf("there are %d entries, the maximum is %d", n, MaxEntries)
	}
	return managedfields.ValidateManagedFields(entries)
}

// CheckEntries returns an error if an object has more than MaxEntries. Otherwise it sorts their fields (Sorted).
func CheckEntries(obj metav1.Object) error {
	entries := obj.GetManagedFields()
	if n := len(entries); n > MaxEntries {
		return apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("metadata.managedFields has %d entries; the maximum is %d", n, MaxEntries))
	}
	if sorted, changed := Sorted(entries); changed {
		obj.SetManagedFields(sorted)
	}
	return nil
}
