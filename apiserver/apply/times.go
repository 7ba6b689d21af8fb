package apply

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// KeepTimes sets the times in obj's managedFields to those of old if nothing else differs between
// the two but their resourceVersions, so that a write which changes nothing isn't one (B-17). Both
// are of the same version; old isn't changed.
// (AS handlers/fieldmanager/equality.go:IgnoreManagedFieldsTimestampsTransformer)
func KeepTimes(obj, old runtime.Object) {
	to, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	entries, was := to.GetManagedFields(), old.(metav1.Object).GetManagedFields()
	if len(entries) != len(was) || !onlyTimesDiffer(entries, was) {
		return
	}
	old = stamped(shallow(old), obj.GetObjectKind().GroupVersionKind())
	if rv := to.GetResourceVersion(); rv != old.(metav1.Object).GetResourceVersion() {
		old.(metav1.Object).SetResourceVersion(rv)
	}
	if !sameBut(obj, old) {
		return
	}
	kept := make([]metav1.ManagedFieldsEntry, len(entries))
	for i := range entries {
		kept[i] = entries[i]
		kept[i].Time = was[i].Time
	}
	to.SetManagedFields(kept)
}

// onlyTimesDiffer reports whether two lists of the same length are equal but for times, and
// some time does differ.
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

// sameBut compares objects whose managedFields are the same but for their times.
func sameBut(a, b runtime.Object) bool {
	x, custom := a.(*unstructured.Unstructured)
	y, both := b.(*unstructured.Unstructured)
	if custom != both {
		return false
	}
	if !custom {
		return sameFields(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()) && sameMeta(a, b)
	}
	// Custom resources are compared as they are: an empty map isn't none.
	x, y = shallow(x).(*unstructured.Unstructured), shallow(y).(*unstructured.Unstructured)
	for _, u := range []*unstructured.Unstructured{x, y} {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	}
	return equality.Semantic.DeepEqualWithNilDifferentFromEmpty(x.Object, y.Object)
}

// sameFields compares what isn't metadata, which as a rule is where two states differ.
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

// sameMeta compares metadata without managedFields.
func sameMeta(a, b runtime.Object) bool {
	x, y := *metaOf(a), *metaOf(b)
	x.ManagedFields, y.ManagedFields = nil, nil
	return equality.Semantic.DeepEqual(x, y)
}

// metaOf returns the metadata of an object with a Go type.
func metaOf(obj runtime.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}
