package invalid

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// step is how many entries of a list are validated before their errors are counted.
const step = 200

// Metadata validates metadata as apimachinery's ValidateObjectMetaAccessor does, but stops in each list at the first
// step with enough errors: a client may send a million empty finalizers.
func Metadata(m metav1.Object, namespaced bool, name apivalidation.ValidateNameFunc, at *field.Path) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessor(excerpt(m), namespaced, name, at)
}

// cut is metadata with lists that are cut after the entries with enough errors.
type cut struct {
	metav1.Object
	labels, annotations map[string]string
	owners              []metav1.OwnerReference
	finalizers          []string
	managed             []metav1.ManagedFieldsEntry
}

// The cut lists.
func (c *cut) GetLabels() map[string]string                  { return c.labels }
func (c *cut) GetAnnotations() map[string]string             { return c.annotations }
func (c *cut) GetOwnerReferences() []metav1.OwnerReference   { return c.owners }
func (c *cut) GetFinalizers() []string                       { return c.finalizers }
func (c *cut) GetManagedFields() []metav1.ManagedFieldsEntry { return c.managed }

// excerpt returns m itself unless one of its lists is long.
func excerpt(m metav1.Object) metav1.Object {
	c := &cut{m, m.GetLabels(), m.GetAnnotations(), m.GetOwnerReferences(), m.GetFinalizers(), m.GetManagedFields()}
	if max(len(c.labels), len(c.annotations), len(c.owners), len(c.finalizers), len(c.managed)) <= step {
		return m
	}
	at := field.NewPath("metadata")
	c.labels = cutMap(c.labels, wrongLabels)
	c.annotations = cutMap(c.annotations, wrongAnnotations)
	c.owners = cutList(c.owners, func(some []metav1.OwnerReference) field.ErrorList {
		return apivalidation.ValidateOwnerReferences(some, at)
	})
	c.finalizers = cutList(c.finalizers, func(some []string) field.ErrorList {
		return apivalidation.ValidateFinalizers(some, at)
	})
	c.managed = cutList(c.managed, func(some []metav1.ManagedFieldsEntry) field.ErrorList {
		return v1validation.ValidateManagedFields(some, at)
	})
	return c
}

// cutList returns the first entries, up to the step with enough errors.
func cutList[T any](all []T, errors func([]T) field.ErrorList) []T {
	if len(all) <= step {
		return all
	}
	found := 0
	for i := 0; i < len(all); i += step {
		end := min(i+step, len(all))
		if found += len(errors(all[i:end])); found >= MaxErrors {
			return all[:end]
		}
	}
	return all
}

// cutMap is cutList for entries without an order.
func cutMap(all map[string]string, errors func(map[string]string) field.ErrorList) map[string]string {
	if len(all) <= step {
		return all
	}
	kept, some, found := map[string]string{}, make(map[string]string, step), 0
	for k, v := range all {
		kept[k], some[k] = v, v
		if len(some) < step {
			continue
		}
		if found += len(errors(some)); found >= MaxErrors {
			return kept
		}
		clear(some)
	}
	return all
}
