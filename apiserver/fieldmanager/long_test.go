package fieldmanager

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// variables returns a pod whose container has n variables in reverse order, which costs the most time.
func variables(n int) *corev1.Pod {
	p := &corev1.Pod{}
	p.APIVersion, p.Kind, p.Name = "v1", "Pod", "a"
	p.Spec.Containers = []corev1.Container{{Name: "c"}}
	for i := range n {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: fmt.Sprintf("v%06d", n-i)})
	}
	return p
}

// TestObjectsWithLongListsHaveNoManagedFields: a write that would have to compare the fields of a list with more than
// 10,000 objects stores the object without managedFields, like an object whose fields can't be compared.
func TestObjectsWithLongListsHaveNoManagedFields(t *testing.T) {
	m, res := New(Config{Types: table}), table.Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	for n, kept := range map[int]bool{maxListed / 10: true, maxListed + 1: false} {
		live := variables(n)
		m.Update(res, "", nil, live, "one")
		next := live.DeepCopy()
		next.Spec.Containers[0].Env = append(next.Spec.Containers[0].Env, corev1.EnvVar{Name: "new"})
		m.Update(res, "", live, next, "two")
		if got := len(next.GetManagedFields()) == 2; got != kept {
			t.Errorf("%d variables: %d entries", n, len(next.GetManagedFields()))
		}
	}
	custom := func(n int) *unstructured.Unstructured {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"a": int64(i)}
		}
		return &unstructured.Unstructured{
			Object: map[string]any{"spec": map[string]any{"deep": []any{map[string]any{"list": list}}}},
		}
	}
	if checkLists(custom(maxListed)) != nil || checkLists(custom(maxListed+1)) == nil {
		t.Error("a custom resource's list is not counted")
	}
	mixed := custom(maxListed + 1)
	mixed.Object["spec"].(map[string]any)["deep"].([]any)[0].(map[string]any)["list"].([]any)[0] = "first"
	if checkLists(mixed) == nil {
		t.Error("a list that begins with a value is not counted")
	}
	for n, long := range map[int]bool{maxValues: false, maxValues + 1: true} {
		p := variables(1)
		p.Finalizers = make([]string, n)
		values := &unstructured.Unstructured{Object: map[string]any{"spec": make([]any, n)}}
		if (checkLists(p) != nil) != long || (checkLists(values) != nil) != long {
			t.Errorf("%d values: %v, %v", n, checkLists(p), checkLists(values))
		}
	}
}

// TestLongTypedReadsExportedFieldsOnly: lists in unexported fields, as in the time zone of a time, are not counted.
func TestLongTypedReadsExportedFieldsOnly(t *testing.T) {
	type value struct {
		hidden []struct{}
		Shown  []struct{}
	}
	long := make([]struct{}, maxListed+1)
	if longTyped(reflect.ValueOf(&value{hidden: long})) || !longTyped(reflect.ValueOf(&value{Shown: long})) {
		t.Error("only the exported list is one of the object")
	}
}
