package daemonset

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata. What is remembered of failures is the scenario's own.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{New()}, Default: defaults, Check: onePodEach, Print: show,
	})
}

func defaults(o workload.Object) {
	set, ok := o.(*appsv1.DaemonSet)
	if !ok {
		return
	}
	u := &set.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if u.Type == appsv1.RollingUpdateDaemonSetStrategyType && u.RollingUpdate == nil {
		u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)), MaxSurge: ptr.To(intstr.FromInt32(0)),
		}
	}
	if set.Spec.RevisionHistoryLimit == nil {
		set.Spec.RevisionHistoryLimit = ptr.To[int32](10)
	}
}

// onePodEach: a node has no more than one pod of a set, or two if it surges.
func onePodEach(w *workloadtest.World) error {
	for _, o := range w.All(workload.DaemonSets, "") {
		set := o.(*appsv1.DaemonSet)
		most, on := 1, map[string]int{}
		if (&pass{set: set}).surges() {
			most = 2
		}
		for _, p := range workload.Controlled[*corev1.Pod](w, set.UID) {
			if !workload.Active(p) {
				continue
			}
			if on[target(p)]++; on[target(p)] > most {
				return fmt.Errorf("%d pods on %s", on[target(p)], target(p))
			}
		}
	}
	return nil
}

// show prints what matters of an object.
func show(o workload.Object) string {
	s := workload.Of(o).Kind + " " + o.GetName()
	if c := metav1.GetControllerOf(o); c != nil {
		s += fmt.Sprintf(" of %s %s", c.Kind, c.Name)
	}
	if o.GetDeletionTimestamp() != nil {
		s += " deleting"
	}
	switch o := o.(type) {
	case *appsv1.DaemonSet:
		st := o.Status
		s += fmt.Sprintf(": desired %d, current %d, misscheduled %d, ready %d, updated %d, available %d, unavailable %d, generation %d",
			st.DesiredNumberScheduled, st.CurrentNumberScheduled, st.NumberMisscheduled, st.NumberReady,
			st.UpdatedNumberScheduled, st.NumberAvailable, st.NumberUnavailable, st.ObservedGeneration)
	case *corev1.Pod:
		s += fmt.Sprintf(
			" for %s %s %v %s, %d tolerations", target(o), o.Status.Phase, o.Labels, o.Spec.Containers[0].Image,
			len(o.Spec.Tolerations))
	case *appsv1.ControllerRevision:
		s += fmt.Sprintf(" number %d %v", o.Revision, o.Labels)
	}
	return s
}
