package statefulset

import (
	"math"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// A set may request more pods than fit into memory: a pass creates a limited number, from the first ordinal without a
// pod, and later passes the rest.
func TestPassCreatesABoundedNumberOfPods(t *testing.T) {
	w := workloadtest.New()
	labels := map[string]string{"app": "s"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](math.MaxInt32), PodManagementPolicy: appsv1.ParallelPodManagement,
		UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
		Selector:       &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
		},
	}}
	defaults(set)
	w.Put(set)
	w.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s-2000000000", Labels: labels}})
	for pass, want := range []int{1, 1, 501, 1001} { // the pod is adopted, a revision made, and then pods
		w.Pass(New(true), workload.Key{Namespace: "a", Name: "s"})
		if n := len(w.All(workload.Pods, "a")); n != want {
			t.Fatalf("after pass %d there are %d pods, not %d", pass, n, want)
		}
	}
	for _, name := range []string{"s-0", "s-999", "s-2000000000"} {
		if p := workload.Get[*corev1.Pod](w, "a", name); p == nil || metav1.GetControllerOf(p) == nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}
