package disruption

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// one is a store of one pod, without budgets.
type one struct {
	workload.Reader
	pod *corev1.Pod
}

func (o one) Get(workload.Resource, string, string) workload.Object { return o.pod }
func (one) All(workload.Resource, string) []workload.Object         { return nil }

// TestNoPassWithoutBudgets: without budgets, the event of a pod causes no pass and allocates nothing.
func TestNoPassWithoutBudgets(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", Labels: map[string]string{"app": "web"}}}
	m := &workload.Meta{Key: workload.KeyOf(p), Labels: p.Labels}
	var r workload.Reader = one{pod: p}
	for _, c := range []workload.Controller{Budgets(), Pods()} {
		passes := 0
		n := testing.AllocsPerRun(100, func() {
			passes += len(c.Wake(r, workload.Change{Resource: workload.Pods, Old: m, New: m}))
		})
		if n != 0 || passes != 0 {
			t.Errorf("%v: %v allocations, %d passes", c.For, n, passes)
		}
	}
}
