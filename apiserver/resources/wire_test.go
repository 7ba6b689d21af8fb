package resources

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// versions returns an empty object of each version that hooks accept.
func versions(t *testing.T, r *Resource) []runtime.Object {
	t.Helper()
	objs := []runtime.Object{r.New()}
	if r.ToStored != nil {
		stored, err := r.ToStored(r.New())
		if err != nil {
			t.Fatal(err)
		}
		objs = append(objs, stored)
	}
	return objs
}

// TestHooksTakeBothVersions: every hook accepts an empty object of either version.
func TestHooksTakeBothVersions(t *testing.T) {
	for _, r := range Builtin() {
		for _, obj := range versions(t, r) {
			if d := r.Strategy.Default; d != nil {
				once := obj.DeepCopyObject()
				d(once)
				twice := once.DeepCopyObject()
				d(twice)
				if diff := cmp.Diff(once, twice); diff != "" {
					t.Errorf("%v: defaulting %T twice (-once +twice):\n%s", pathOf(r), obj, diff)
				}
				if once.GetObjectKind().GroupVersionKind() != obj.GetObjectKind().GroupVersionKind() {
					t.Errorf("%v: defaulting %T changed its kind", pathOf(r), obj)
				}
			}
			if m := r.Delete.Mark; m != nil {
				m(obj.DeepCopyObject())
			}
			prepareAll(t, r, obj)
			if len(r.Table.Columns) == 0 {
				t.Errorf("%v has no columns", pathOf(r))
			}
			if r.Virtual && r.Hooks.Objects.List == nil {
				continue // never listed
			}
			// As in upstream, an IPAddress has one cell more than columns.
			if cells := r.Table.Cells(obj, time.Unix(1e9, 0)); len(cells) < len(r.Table.Columns) {
				t.Errorf("%v: %d cells of a %T for %d columns", pathOf(r), len(cells), obj, len(r.Table.Columns))
			}
		}
	}
}

// prepareAll calls every hook of a write, and checks that none changes the old object.
func prepareAll(t *testing.T, r *Resource, empty runtime.Object) {
	t.Helper()
	old := empty.DeepCopyObject()
	updates := []func(obj, old runtime.Object){r.Strategy.Prepare}
	warnings := []func(obj, old runtime.Object) []string{r.Strategy.Warnings}
	for _, s := range r.Subresources {
		updates = append(updates, s.PrepareUpdate)
		warnings = append(warnings, s.Warnings)
	}
	if f := r.Strategy.Prepare; f != nil {
		f(empty.DeepCopyObject(), nil)
	}
	if f := r.Strategy.EarlyWarnings; f != nil {
		f(empty)
	}
	for _, f := range updates {
		if f != nil {
			f(empty.DeepCopyObject(), old)
		}
	}
	for _, f := range warnings {
		if f != nil {
			f(empty.DeepCopyObject(), old)
		}
	}
	if f := r.Strategy.Warnings; f != nil {
		f(empty.DeepCopyObject(), nil)
	}
	if d := cmp.Diff(empty, old); d != "" {
		t.Errorf("%v: a hook changed the old %T:\n%s", pathOf(r), old, d)
	}
}

// TestPartSubresourcesPrepareUpdates: a subresource that updates the whole object keeps all other fields.
func TestPartSubresourcesPrepareUpdates(t *testing.T) {
	for _, r := range Builtin() {
		for _, s := range r.Subresources {
			if s.Action == Part && s.PrepareUpdate == nil {
				t.Errorf("%v/%s has no PrepareUpdate", pathOf(r), s.Name)
			}
		}
	}
}

// TestOnlyV1WritesAnnotationsOfConversion: clients of v1 can write the annotations of the conversion, clients of v2
// can't.
func TestOnlyV1WritesAnnotationsOfConversion(t *testing.T) {
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Annotations: map[string]string{hpaMetrics: "[]", "own": "kept"}}
	}
	v2 := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta()}
	lookup(t, "autoscaling", "v2", "horizontalpodautoscalers").Strategy.Default(v2)
	if d := cmp.Diff(map[string]string{"own": "kept"}, v2.Annotations); d != "" {
		t.Errorf("v2 (-want +got):\n%s", d)
	}
	v1 := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: meta()}
	lookup(t, "autoscaling", "v1", "horizontalpodautoscalers").Strategy.Default(v1)
	if d := cmp.Diff(meta().Annotations, v1.Annotations); d != "" {
		t.Errorf("v1 (-want +got):\n%s", d)
	}
}

// TestColumnsEqualRecordedOnes compares the columns with those of a real server.
func TestColumnsEqualRecordedOnes(t *testing.T) {
	var want map[string][]Column
	recorded(t, "table-columns.json", &want)
	for _, r := range Builtin() {
		if columns, ok := want[r.GroupVersion().String()+"/"+r.Plural]; ok {
			var got []Column
			for _, c := range r.Table.Columns {
				c.Description = "" // not recorded
				got = append(got, c)
			}
			if r.Plural == "customresourcedefinitions" { // V-103; package kindtest/printers has the new ones
				got = got[:0]
				for _, c := range r.Table.Columns {
					if c.Name == "Name" || c.Name == "Created At" {
						c.Description = ""
						got = append(got, c)
					}
				}
			}
			if d := cmp.Diff(columns, got); d != "" {
				t.Errorf("%v (-recorded +ours):\n%s", pathOf(r), d)
			}
		}
	}
}

// TestTableHooksReachTheEntry: the hooks of a table, besides cells, are in the adapted entry.
func TestTableHooksReachTheEntry(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
	conditions := lookup(t, "", "v1", "pods").Table.Conditions
	if conditions == nil || len(conditions(pod)) == 0 {
		t.Error("a pod that succeeded has no row condition")
	}
	if lookup(t, "flowcontrol.apiserver.k8s.io", "v1", "flowschemas").Table.Compare == nil {
		t.Error("flow schemas are not ordered")
	}
}
