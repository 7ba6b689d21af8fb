package simulation

import (
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// TestOffSetsNodesToNotReady: a node that was simulated is not ready without the simulation, is not changed again, and
// is ready again with it. Conditions that a client has set are kept.
func TestOffSetsNodesToNotReady(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	view := func(n *corev1.Node) workload.View { return workload.View{Key: workload.Key{Name: n.Name}, Object: n} }
	log, n := slog.New(slog.DiscardHandler), &corev1.Node{}
	n.Name = "any"
	label(n)
	step := func(what string, p workload.Plan, status corev1.ConditionStatus, since int64) {
		t.Helper()
		if p.Status == nil {
			t.Fatalf("%s: nothing to do", what)
		}
		n = p.Status.(*corev1.Node)
		c, i := n.Status.Conditions, ready(n)
		if len(c) != 4 || i < 0 || c[i].Status != status || !c[i].LastTransitionTime.Time.Equal(at(since)) {
			t.Fatalf("%s: %+v", what, n.Status.Conditions)
		}
	}
	step("simulated", kubelets{version: "v1"}.node(view(n), at(1)), corev1.ConditionTrue, 1)
	p := off(n, at(2), log)
	step("off", p, corev1.ConditionUnknown, 2)
	if len(p.Events) != 1 || p.Events[0].Reason != "NodeNotReady" {
		t.Errorf("events: %+v", p.Events)
	}
	if p := off(n, at(3), log); p.Status != nil {
		t.Errorf("again: %+v", p)
	}
	step("simulated again", kubelets{version: "v1"}.node(view(n), at(4)), corev1.ConditionTrue, 4)
	for _, message := range []string{"kubelet is posting ready status", ""} {
		n.Status.Conditions[ready(n)].Message = message
		if p := off(n, at(5), log); p.Status != nil {
			t.Errorf("a node of another's: %+v", p)
		}
	}
	n.Status.Conditions[ready(n)].Status = corev1.ConditionUnknown
	if p := (kubelets{version: "v1"}).node(view(n), at(6)); p.Status != nil {
		t.Errorf("a node that a client has made unready: %+v", p)
	}
	if p := off(nil, at(7), log); p.Status != nil || len(p.Do) > 0 {
		t.Errorf("no node: %+v", p)
	}
}
