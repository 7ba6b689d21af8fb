package simulation

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestSimulatedNodesRenewLeases: a simulated node has a lease, which is renewed after 30 seconds and not before. A node
// of a client's has none, nor has one that is not ready.
func TestSimulatedNodesRenewLeases(t *testing.T) {
	w := workloadtest.New()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	w.Put(n)
	pass := func() string { return w.Pass(Leases(), workload.Key{Name: "n"}) }
	if did := pass(); did != "" {
		t.Errorf("before it is ready: %s", did)
	}
	w.Settle(Node("v1", Options{}))
	for i, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "  create Lease n\n  again in 30s\n"},
		{0, "  again in 30s\n"},
		{4 * time.Second, "  again in 26s\n"},
		{26 * time.Second, "  update Lease n\n  again in 30s\n"},
		{-time.Hour, "  update Lease n\n  again in 30s\n"}, // the clock was set back
	} {
		w.Now = w.Now.Add(step.after)
		if did := pass(); did != step.want {
			t.Errorf("step %d: %q, want %q", i, did, step.want)
		}
		l := workload.Get[*coordinationv1.Lease](w, "kube-node-lease", "n")
		if *l.Spec.HolderIdentity != "n" || *l.Spec.LeaseDurationSeconds != 40 || len(l.OwnerReferences) != 1 ||
			l.OwnerReferences[0].UID != "Node-n-1" {
			t.Errorf("step %d: %+v", i, l)
		}
	}
	n = workload.Get[*corev1.Node](w, "", "n").DeepCopy()
	n.Status.Conditions[ready(n)].Message = "mine"
	w.Put(n)
	w.Now = w.Now.Add(time.Hour)
	if did := pass(); did != "" {
		t.Errorf("a node of a client's: %s", did)
	}
}
