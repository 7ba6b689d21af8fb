package replicaset

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{New(), NewReplication()}, Print: show,
	})
}

// show prints what matters of an object.
func show(o workload.Object) string {
	s := workload.Of(o).Kind + " " + o.GetName()
	if c := metav1.GetControllerOf(o); c != nil {
		s += fmt.Sprintf(" of %s %s", c.Kind, c.UID)
	}
	if o.GetDeletionTimestamp() != nil {
		s += " deleting"
	}
	switch o := o.(type) {
	case *appsv1.ReplicaSet:
		s += print(o.Status)
	case *corev1.ReplicationController:
		s += print(general(&o.Status))
	case *corev1.Pod:
		s += fmt.Sprintf(" %s %v", o.Status.Phase, o.Labels)
	}
	return s
}

func print(s appsv1.ReplicaSetStatus) string {
	out := fmt.Sprintf(": %d replicas, %d labeled, %d ready, %d available, generation %d",
		s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration)
	if s.TerminatingReplicas != nil && *s.TerminatingReplicas > 0 {
		out += fmt.Sprintf(", %d terminating", *s.TerminatingReplicas)
	}
	for _, c := range s.Conditions {
		out += fmt.Sprintf("\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return out
}
