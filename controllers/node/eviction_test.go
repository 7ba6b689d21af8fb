package node

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestPodsAreEvictedByTaints runs testdata/eviction, together with node-lifecycle-controller.
func TestPodsAreEvictedByTaints(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/eviction", workloadtest.Options{
		Controllers: []workload.Controller{Lifecycle(), Eviction()}, Print: show, Check: check,
	})
}

func show(o workload.Object) string {
	s := o.GetName()
	if o.GetDeletionTimestamp() != nil {
		s += " deleted"
	}
	if p, ok := o.(*corev1.Pod); ok {
		for _, c := range p.Status.Conditions {
			s += fmt.Sprintf("\n  %s=%s %s %q since %s", c.Type, c.Status, c.Reason, c.Message,
				c.LastTransitionTime.UTC().Format("15:04:05"))
		}
	}
	return s
}

// check: no pod is deleted before its condition says why.
func check(w *workloadtest.World) error {
	for _, p := range workload.All[*corev1.Pod](w, "") {
		if p.DeletionTimestamp != nil && p.Labels["by"] != "client" && !deleted(p) {
			return fmt.Errorf("%s is deleted without the condition", p.Name)
		}
	}
	return nil
}
