package entry

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// Decode decodes a value from r's collection and returns it in the served version. The value has the stored version or
// the served one, as its apiVersion says; without an apiVersion it has the stored one.
func (r *Resource) Decode(stored []byte) (runtime.Object, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal(stored, &head); err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	gvk := r.Stored
	if head.APIVersion == r.GroupVersion().String() {
		gvk = r.GroupVersionKind()
	}
	obj, err := Scheme().New(gvk)
	if err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(stored, obj); err != nil {
		return nil, fmt.Errorf("decoding a stored %s: %w", r.Kind, err)
	}
	if r.FromStored == nil || gvk == r.GroupVersionKind() {
		return obj, nil
	}
	return r.FromStored(obj)
}
