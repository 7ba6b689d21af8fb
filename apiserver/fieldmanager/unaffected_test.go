package fieldmanager

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestManyManagers: of more managers than are kept the oldest become one, also if all but one are unaffected.
func TestManyManagers(t *testing.T) {
	m, res := New(Config{Types: table}), table.Kind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	p := plain{res}
	reference, err := managedfields.NewDefaultFieldManager(applyconfigurations.NewTypeConverter(scheme.Scheme), p, p, p,
		res.GroupVersionKind(),
		schema.GroupVersion{Version: runtime.APIVersionInternal}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	live := configMap()
	m.Update(res, "", nil, live, "creator")
	live.UID = "u"
	for i := range mostManagers + 4 {
		next := live.DeepCopy()
		next.Annotations = map[string]string{}
		for k, v := range live.Annotations {
			next.Annotations[k] = v
		}
		if i%2 == 0 {
			next.Annotations[fmt.Sprint("a", i)] = "1"
		} else {
			next.Data = map[string]string{"k": fmt.Sprint(i)}
		}
		manager := fmt.Sprint("m", i)
		want := reference.UpdateNoErrors(live.DeepCopy(), next.DeepCopy(), manager).(*corev1.ConfigMap)
		live = m.Update(res, "", live, next, manager).(*corev1.ConfigMap)
		a, b := want.DeepCopy(), live.DeepCopy()
		forget(a)
		forget(b)
		if d := cmp.Diff(a.ManagedFields, b.ManagedFields); d != "" {
			t.Fatalf("after %d managers (-field manager +own):\n%s", i+1, d)
		}
	}
	if n := len(live.ManagedFields); n < 5 || n > mostManagers+1 {
		t.Errorf("%d entries", n)
	}
}

// TestReferredKind: of a field within that is called kind, as in a reference, the owner changes as of any other.
func TestReferredKind(t *testing.T) {
	m, res := New(Config{Types: table}), table.Kind(autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"))
	live := &autoscalingv2.HorizontalPodAutoscaler{Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"},
		MaxReplicas:    1}}
	live.SetGroupVersionKind(res.GroupVersionKind())
	m.Update(res, "", nil, live, "creator")
	live.UID = "u"
	next := live.DeepCopy()
	next.Spec.ScaleTargetRef.Kind, next.Spec.ScaleTargetRef.APIVersion = "Other", "example.com/v1"
	m.Update(res, "", live, next, "editor")
	got := map[string]string{}
	for _, e := range next.ManagedFields {
		got[e.Manager] = string(e.FieldsV1.GetRawBytes())
	}
	want := map[string]string{
		"creator": `{"f:spec":{"f:maxReplicas":{},"f:scaleTargetRef":{"f:name":{}}}}`,
		"editor":  `{"f:spec":{"f:scaleTargetRef":{"f:apiVersion":{},"f:kind":{}}}}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBystanders: entries that name what differs, or are the writer's, aren't.
func TestBystanders(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	spec, status := entry("s", `{"f:spec":{}}`), entry("t", `{"f:status":{}}`)
	for _, c := range []struct {
		manager              string
		names                []string
		affected, unaffected []metav1.ManagedFieldsEntry
	}{
		{"x", []string{`"f:status":`}, []metav1.ManagedFieldsEntry{status}, []metav1.ManagedFieldsEntry{spec}},
		{"s", []string{`"f:status":`}, []metav1.ManagedFieldsEntry{spec, status}, nil},
		{"x", []string{`"f:data":`}, nil, []metav1.ManagedFieldsEntry{spec, status}},
		{"x", nil, nil, []metav1.ManagedFieldsEntry{spec, status}},
	} {
		affected, unaffected := splitEntries([]metav1.ManagedFieldsEntry{spec, status}, c.manager, c.names)
		if d := cmp.Diff(
			[][]metav1.ManagedFieldsEntry{c.affected, c.unaffected}, [][]metav1.ManagedFieldsEntry{affected, unaffected},
		); d != "" {
			t.Errorf("%s writes %q:\n%s", c.manager, c.names, d)
		}
	}
}
