package objectmeta

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Flat returns the metadata of an unstructured object for validation, which reads much of it several times: each time,
// the object would make it anew. The sets of managedFields and their times are missing, as they are not validated.
// Other objects are returned as they are.
func Flat(m metav1.Object) metav1.Object {
	u, ok := m.(*unstructured.Unstructured)
	if !ok {
		return m
	}
	flat := &metav1.ObjectMeta{
		Name: u.GetName(), GenerateName: u.GetGenerateName(), Namespace: u.GetNamespace(), SelfLink: u.GetSelfLink(),
		UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Generation: u.GetGeneration(),
		CreationTimestamp: u.GetCreationTimestamp(), DeletionTimestamp: u.GetDeletionTimestamp(),
		DeletionGracePeriodSeconds: u.GetDeletionGracePeriodSeconds(), Labels: u.GetLabels(),
		Annotations: u.GetAnnotations(), OwnerReferences: u.GetOwnerReferences(), Finalizers: u.GetFinalizers(),
	}
	if flat.ManagedFields, ok = flatEntries(u); !ok {
		flat.ManagedFields = u.GetManagedFields()
	}
	return flat
}

// flatEntries returns the entries without their sets and times; ok is false unless they are canonical.
func flatEntries(u *unstructured.Unstructured) (entries []metav1.ManagedFieldsEntry, ok bool) {
	m, ok := u.Object["metadata"].(map[string]any)
	v, found := m["managedFields"]
	if !ok || !found {
		return nil, ok
	}
	if !each(v, canonicalEntry) {
		return nil, false
	}
	list := v.([]any)
	entries = make([]metav1.ManagedFieldsEntry, len(list))
	for i, item := range list {
		m := item.(map[string]any)
		text := func(name string) string { s, _ := m[name].(string); return s }
		entries[i] = metav1.ManagedFieldsEntry{
			Manager: text("manager"), Operation: metav1.ManagedFieldsOperationType(text("operation")),
			APIVersion: text("apiVersion"), FieldsType: text("fieldsType"), Subresource: text("subresource"),
		}
	}
	return entries, true
}
