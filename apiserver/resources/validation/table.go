package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kind is what a kind's validation consists of, beyond metadata. A nil func accepts everything.
type Kind struct {
	// Create judges a new object.
	Create func(obj runtime.Object) field.ErrorList
	// Update judges a change of the object itself: what may not change, and what is new.
	Update func(obj, old runtime.Object) field.ErrorList
	// Status judges a change through the status subresource.
	Status func(obj, old runtime.Object) field.ErrorList
	// Parts are those of other subresources by their names: finalize, ephemeralcontainers, resize, approval.
	Parts map[string]func(obj, old runtime.Object) field.ErrorList
}

// For returns the validation of a kind; its funcs are nil for a kind that has none. They take
// pointers to the Go type that doc.go names and find nothing wrong with any other object.
func For(gk schema.GroupKind) Kind {
	if k, ok := kinds[gk]; ok {
		return k
	}
	return workloads[gk]
}

// kinds are those without pods; workloads_table.go has the others.
var kinds = map[schema.GroupKind]Kind{}

// one makes a kind's own function one of any object.
func one[T any](f func(obj *T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(o runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		if !ok || obj == nil {
			return nil
		}
		return f(obj)
	}
}

// two does so for a change.
func two[T any](f func(obj, old *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(o, before runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		old, was := any(before).(*T)
		if !ok || !was || obj == nil || old == nil {
			return nil
		}
		return f(obj, old)
	}
}

// part is the table of a kind with one other subresource.
func part(name string, f func(obj, old runtime.Object) field.ErrorList) map[string]func(obj, old runtime.Object) field.ErrorList {
	return map[string]func(obj, old runtime.Object) field.ErrorList{name: f}
}
