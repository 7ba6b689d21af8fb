package disruption

import (
	"testing"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// none is a store without budgets.
type none struct{ workload.Reader }

func (none) All(workload.Resource, string) []workload.Object { return nil }

// TestNoPassWithoutBudgets: without budgets, the event of a pod causes no pass and allocates nothing.
func TestNoPassWithoutBudgets(t *testing.T) {
	m := &workload.Meta{Key: workload.Key{Namespace: "a", Name: "p"}, Labels: map[string]string{"app": "web"},
		Mentions: func(string) bool { return false }}
	var r workload.Reader = none{}
	for _, c := range []workload.Controller{Budgets(nil), Pods()} {
		passes := 0
		n := testing.AllocsPerRun(100, func() {
			passes += len(c.Wake(r, workload.Change{Resource: workload.Pods, Old: m, New: m}))
		})
		if n != 0 || passes != 0 {
			t.Errorf("%v: %v allocations, %d passes", c.For, n, passes)
		}
	}
}
