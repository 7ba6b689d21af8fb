package fieldmanager

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// KeepTimes copies the times in old's managedFields to obj's if the two objects differ only in these and in their
// resourceVersions, so that a write without changes stores nothing (B-17). Both have the same version. It does not
// modify old. (AS handlers/fieldmanager/equality.go:IgnoreManagedFieldsTimestampsTransformer)
func KeepTimes(obj, old runtime.Object) {
	to, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	entries, was := to.GetManagedFields(), old.(metav1.Object).GetManagedFields()
	if len(entries) != len(was) || !onlyTimesDiffer(entries, was) || !sameRest(obj, old) {
		return
	}
	kept := make([]metav1.ManagedFieldsEntry, len(entries))
	for i := range entries {
		kept[i] = entries[i]
		kept[i].Time = was[i].Time
	}
	to.SetManagedFields(kept)
}

// sameRest reports whether everything except managedFields and resourceVersion is the same.
func sameRest(obj, old runtime.Object) bool {
	old = stamped(shallow(old), obj.GetObjectKind().GroupVersionKind())
	if rv := obj.(metav1.Object).GetResourceVersion(); rv != old.(metav1.Object).GetResourceVersion() {
		old.(metav1.Object).SetResourceVersion(rv)
	}
	return sameBut(obj, old)
}

// onlyTimesDiffer reports whether two lists of the same length differ only in times.
func onlyTimesDiffer(a, b []metav1.ManagedFieldsEntry) bool {
	differ := false
	for i := range a {
		differ = differ || !a[i].Time.Equal(b[i].Time)
		x, y := a[i], b[i]
		x.Time, y.Time = nil, nil
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return differ
}

// sameBut reports whether two objects are the same except for managedFields.
func sameBut(a, b runtime.Object) bool {
	x, custom := a.(*unstructured.Unstructured)
	y, both := b.(*unstructured.Unstructured)
	if custom != both {
		return false
	}
	if !custom {
		return sameFields(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()) && sameMeta(a, b)
	}
	// Custom resources are compared exactly: an empty map differs from none.
	x, y = shallow(x).(*unstructured.Unstructured), shallow(y).(*unstructured.Unstructured)
	for _, u := range []*unstructured.Unstructured{x, y} {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	}
	return equality.Semantic.DeepEqualWithNilDifferentFromEmpty(x.Object, y.Object)
}

// sameFields reports whether everything is the same except metadata, in which two states usually differ.
func sameFields(a, b reflect.Value) bool {
	if a.Type() != b.Type() {
		return false
	}
	for i := range a.NumField() {
		if a.Field(i).Type() == reflect.TypeFor[metav1.ObjectMeta]() {
			continue
		}
		x, y := a.Field(i).Addr().Interface(), b.Field(i).Addr().Interface()
		if !reflect.DeepEqual(x, y) && !equality.Semantic.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// sameMeta reports whether the metadata is the same except for managedFields.
func sameMeta(a, b runtime.Object) bool {
	x, y := *metaOf(a), *metaOf(b)
	x.ManagedFields, y.ManagedFields = nil, nil
	return equality.Semantic.DeepEqual(x, y)
}

// metaOf returns the metadata of an object with a Go type.
func metaOf(obj runtime.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}
