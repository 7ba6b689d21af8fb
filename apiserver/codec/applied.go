package codec

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Limits of an apply document. structured-merge-diff inserts the fields of a list or map one by one into a sorted
// slice: 20,000 objects in reverse order take a second or two, 120,000 take minutes. Upstream has no limit.
const (
	maxAppliedElements = 20_000 // of one list
	maxAppliedMembers  = 65_536 // of one object. They are compared faster than elements.
)

// CheckApplied returns an error for an apply document, in JSON, with a list or a map that would take too long to merge,
// or with a quantity that would take too long to parse.
func CheckApplied(data []byte, gvk schema.GroupVersionKind) error {
	e, _ := measure(data) // its error is that of CheckCost
	switch {
	case e.elements > maxAppliedElements:
		return status.Oversized("a list of the apply document has %d elements, the allowed maximum is %d",
			e.elements, maxAppliedElements)
	case e.members > maxAppliedMembers:
		return status.Oversized("a map of the apply document has %d members, the allowed maximum is %d",
			e.members, maxAppliedMembers)
	}
	if err := checkQuantities(data, gvk); err != nil {
		return status.BadRequest("%v", err)
	}
	return nil
}

// checkQuantities returns an error for an object, in JSON, with a quantity that takes too long to parse.
func checkQuantities(data []byte, gvk schema.GroupVersionKind) error {
	return CheckQuantities(Body{Bytes: data, Media: MediaJSON}, func(b Body) error {
		obj, err := resources.Scheme().New(gvk)
		if err != nil { // a custom resource
			return nil
		}
		content := map[string]any{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(b.Bytes, &content); err != nil {
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(content, obj)
	})
}
