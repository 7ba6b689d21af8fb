package disruption

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata. Owners of the kind Crew have a scale subresource: NAME-N has N replicas and the uid
// crew-NAME; lost-1 does not exist. Jobs have none.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{Budgets(crew), Pods()}, Print: show, Check: check,
	})
}

func crew(_ context.Context, _ string, o workload.Owner) (s workload.Scale, err error) {
	switch {
	case o.Kind == "Job":
		return s, errors.New("jobs.batch does not implement the scale subresource")
	case o.Kind != "Crew":
		return s, nil
	}
	i := len(o.Name) - 1
	if o.Name[:i-1] == "lost" {
		return s, nil
	}
	return workload.Scale{UID: "crew-" + o.UID[len("crew-"):], Replicas: int32(o.Name[i] - '0')}, nil
}

// show prints the status.
func show(o workload.Object) string {
	switch o := o.(type) {
	case *policyv1.PodDisruptionBudget:
		s := &o.Status
		out := fmt.Sprintf("%s: %d of %d expected are healthy, %d must be, %d disruptions allowed, generation %d",
			o.Name, s.CurrentHealthy, s.ExpectedPods, s.DesiredHealthy, s.DisruptionsAllowed, s.ObservedGeneration)
		for _, name := range slices.Sorted(maps.Keys(s.DisruptedPods)) {
			out += fmt.Sprintf(", %s evicted %s", name, s.DisruptedPods[name].UTC().Format("15:04:05"))
		}
		for _, c := range s.Conditions {
			out += fmt.Sprintf("\n  %s=%s %s %s generation %d %s", c.Type, c.Status, c.Reason,
				c.LastTransitionTime.UTC().Format("15:04:05"), c.ObservedGeneration, c.Message)
		}
		return out
	case *corev1.Pod:
		out := o.Name
		for _, c := range o.Status.Conditions {
			out += fmt.Sprintf(" %s=%s %s %q", c.Type, c.Status, c.Reason, c.Message)
		}
		return out
	}
	return o.GetName()
}

// check: a budget that the controller has seen never allows more disruptions than it has healthy pods to spare, and its
// condition agrees with the number.
func check(w *workloadtest.World) error {
	for _, b := range workload.All[*policyv1.PodDisruptionBudget](w, "") {
		s := &b.Status
		if s.DisruptionsAllowed < 0 || s.DisruptionsAllowed > max(0, s.CurrentHealthy-s.DesiredHealthy) {
			return fmt.Errorf("%s allows %d disruptions with %d healthy pods of %d", b.Name, s.DisruptionsAllowed,
				s.CurrentHealthy, s.DesiredHealthy)
		}
		for _, c := range s.Conditions {
			if (c.Status == metav1.ConditionTrue) != (s.DisruptionsAllowed > 0) {
				return fmt.Errorf("%s allows %d disruptions, its condition is %s", b.Name, s.DisruptionsAllowed, c.Status)
			}
		}
	}
	return nil
}
