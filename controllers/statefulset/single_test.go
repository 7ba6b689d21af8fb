package statefulset

import (
	"regexp"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestOnePodIsReplacedAfterTheOther: without the feature gate MaxUnavailableStatefulSet an update replaces one pod
// after the other, the highest ordinal first, regardless of the set, and waits for each to be available (V-029, V-081).
func TestOnePodIsReplacedAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		single bool
		// want has the pods that are replaced before any new one is available, and after all are.
		want, then []string
	}{{false, []string{"s-3", "s-2", "s-1"}, nil}, {true, []string{"s-3"}, []string{"s-2"}}} {
		w, ctl := workloadtest.New(), New(!c.single)
		labels := map[string]string{"app": "s"}
		set := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}, Spec: appsv1.StatefulSetSpec{
				Replicas: ptr.To[int32](4), PodManagementPolicy: appsv1.ParallelPodManagement,
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
				UpdateStrategy: appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{
					MaxUnavailable: ptr.To(intstr.FromInt32(3)), Partition: ptr.To[int32](1),
				}},
			}}
		defaults(set)
		w.Put(set)
		available(w, ctl)
		set = workload.Get[*appsv1.StatefulSet](w, "a", "s").DeepCopy()
		set.Spec.Template.Annotations = map[string]string{"v": "2"}
		w.Put(set)
		if got := replaced(w.Settle(ctl)); !slices.Equal(got, c.want) {
			t.Errorf("single %t: %v are replaced, not %v", c.single, got, c.want)
		}
		if got := available(w, ctl); !slices.Equal(got, c.then) {
			t.Errorf("single %t: then %v are replaced, not %v", c.single, got, c.then)
		}
		last := available(w, ctl)
		if c.single && !slices.Equal(last, []string{"s-1"}) || !c.single && last != nil {
			t.Errorf("single %t: at last %v are replaced", c.single, last)
		}
		if got := available(w, ctl); got != nil {
			t.Errorf("single %t: %v are replaced below the partition", c.single, got)
		}
	}
}

// available runs all passes, makes all pods available, and runs all passes again. It returns the pods that are then
// deleted.
func available(w *workloadtest.World, ctl workload.Controller) []string {
	w.Settle(ctl)
	for _, p := range workload.All[*corev1.Pod](w, "a") {
		p = p.DeepCopy()
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.Now)},
		}
		w.Put(p)
	}
	return replaced(w.Settle(ctl))
}

var deletion = regexp.MustCompile(`(?m)^  delete Pod (\S+)`)

// replaced returns the pods that are deleted.
func replaced(passes string) (names []string) {
	for _, m := range deletion.FindAllStringSubmatch(passes, -1) {
		names = append(names, m[1])
	}
	return names
}
