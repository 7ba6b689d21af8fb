package devicetaint

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestChangesOfSlicesAndRulesCausePasses: which pods get a pass after changes of slices and rules, and how seldom the
// pods of a rule are counted.
func TestChangesOfSlicesAndRulesCausePasses(t *testing.T) {
	first, second := New()
	pods, rules := first(), second()
	w := workloadtest.New()
	for _, name := range []string{"a", "b"} {
		w.Put(&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourcev1.ResourceSliceSpec{Driver: "d", Pool: resourcev1.ResourcePool{Name: name}}})
		w.Put(&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name},
			Status: resourcev1.ResourceClaimStatus{
				Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
					Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "d", Pool: name, Device: "e"}}}},
				ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: "uid"}}}})
	}
	w.Put(&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "unallocated"}})
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "r", UID: "r", Generation: 1},
		Spec: resourcev1.DeviceTaintRuleSpec{Taint: resourcev1.DeviceTaint{Effect: resourcev1.DeviceTaintEffectNoExecute}}}
	w.Put(rule)
	woken := func(r workload.Resource, name string, deleted bool) string {
		m := &workload.Meta{Key: workload.Key{Name: name}}
		c := workload.Change{Resource: r, Old: m, New: m}
		if deleted {
			c.New = nil
		}
		var names []string
		for _, key := range pods.Wake(w, c) {
			names = append(names, key.Name)
		}
		return strings.Join(names, " ")
	}
	changed := func(what, name string, r workload.Resource, deleted bool, want string) {
		t.Helper()
		if got := woken(r, name, deleted); got != want {
			t.Errorf("%s: passes over %q, want %q", what, got, want)
		}
	}
	changed("a slice", "b", workload.ResourceSlices, false, "b")
	changed("a deleted slice", "gone", workload.ResourceSlices, true, "a b")
	changed("a deleted slice that was created again", "b", workload.ResourceSlices, true, "a b")
	changed("a new rule", "r", workload.TaintRules, false, "a b")
	changed("a rule's status", "r", workload.TaintRules, false, "")
	rule.Generation = 2
	w.Put(rule)
	changed("a rule's spec", "r", workload.TaintRules, false, "a b")
	changed("a deleted rule", "gone", workload.TaintRules, true, "a b")

	pass := func(want string) {
		t.Helper()
		if got := w.Pass(rules, workload.Key{Name: "r"}); got != want {
			t.Errorf("at %s: %q, want %q", w.Now.Format(time.TimeOnly), got, want)
		}
	}
	pass("  status\n")
	w.Now = w.Now.Add(period)
	pass("") // they are counted
	w.Now = w.Now.Add(time.Second)
	w.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", UID: "uid"}})
	pass("  again in 9s\n")
	w.Now = w.Now.Add(period)
	pass("")
}
