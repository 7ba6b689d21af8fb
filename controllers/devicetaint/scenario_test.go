package devicetaint

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata (V-087). A pod's pass precedes that of a rule.
func TestScenarios(t *testing.T) {
	pods, rules := New()
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{pods(), rules()}, Print: show, Check: check,
	})
}

func show(o workload.Object) string {
	s := o.GetName()
	switch o := o.(type) {
	case *corev1.Pod:
		if o.DeletionTimestamp != nil {
			s += " deleted"
		}
		for _, c := range o.Status.Conditions {
			s += fmt.Sprintf("\n  %s=%s %s %q", c.Type, c.Status, c.Reason, c.Message)
		}
	case *resourcev1.DeviceTaintRule:
		for _, c := range o.Status.Conditions {
			s += fmt.Sprintf("\n  %s=%s %s %q, generation %d, %s", c.Type, c.Status, c.Reason, c.Message,
				c.ObservedGeneration, c.LastTransitionTime.UTC().Format("15:04:05"))
		}
	}
	return s
}

// check: no pod is deleted before its condition says why.
func check(w *workloadtest.World) error {
	for _, p := range workload.All[*corev1.Pod](w, "") {
		if p.DeletionTimestamp != nil && p.Labels["by"] != "client" && len(p.Status.Conditions) == 0 {
			return fmt.Errorf("%s is deleted without the condition", p.Name)
		}
	}
	return nil
}
