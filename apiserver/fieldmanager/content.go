package fieldmanager

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// To get the managedFields of an unstructured object as entries takes 24 allocations for one entry, and a write did so
// a dozen times. Where the content tells as much, it is used.

// content returns the managedFields in an unstructured object's content; ok is false for other objects, and if they are
// no list.
func content(obj any) (list []any, ok bool) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, false
	}
	m, _ := u.Object["metadata"].(map[string]any)
	v, found := m["managedFields"]
	if !found {
		return nil, true
	}
	list, ok = v.([]any)
	return list, ok
}

// FewEntries reports whether an object is known to have no more than MaxEntries entries whose order doesn't matter.
func FewEntries(obj metav1.Object) bool {
	list, ok := content(obj)
	return ok && len(list) <= MaxEntries
}

// timesDiffer reports whether two lists may differ in the times of their entries, and in nothing else.
func timesDiffer(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	differ := false
	for i := range a {
		x, ok := a[i].(map[string]any)
		y, both := b[i].(map[string]any)
		if !ok || !both {
			return true
		}
		if !sameEntry(x, y) {
			return false
		}
		differ = differ || x["time"] != y["time"]
	}
	return differ
}

// sameEntry compares all but the times.
func sameEntry(x, y map[string]any) bool {
	for name, v := range x {
		if name != "time" && !reflect.DeepEqual(v, y[name]) {
			return false
		}
	}
	for name := range y {
		if _, found := x[name]; !found && name != "time" {
			return false
		}
	}
	return true
}

// claimsOf returns the number of an object's entries, and whether one may own managedFields themselves.
func claimsOf(obj metav1.Object) (n int, claims bool) {
	list, ok := content(obj)
	if !ok {
		entries := obj.GetManagedFields()
		return len(entries), claimed(entries)
	}
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok || mentions(m["fieldsV1"]) {
			return len(list), true
		}
	}
	return len(list), false
}

// mentions is claimed for a set of fields in an unstructured object.
func mentions(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return v != nil
	}
	for name, v := range m {
		if strings.Contains(name, "f:managedFields") || mentions(v) {
			return true
		}
	}
	return false
}
