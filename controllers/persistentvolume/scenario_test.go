package persistentvolume

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata, and TestSimulation those of simulated pods.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/binder", workloadtest.Options{
		Controllers: []workload.Controller{Volumes(), Claims()}, Print: show, Check: check,
	})
}

func TestSimulation(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/simulation", workloadtest.Options{
		Controllers: []workload.Controller{Volumes(), Claims(), Scheduling()}, Print: show, Check: check,
	})
}

// TestProvisioning runs those of a scheduler that waits for the claims of pods.
func TestProvisioning(t *testing.T) {
	workloadtest.Scenarios(t, "testdata/provisioning", workloadtest.Options{
		Controllers: []workload.Controller{Volumes(), Claims(), Provisioning(), Deleting(),
			simulation.Scheduler(true, simulation.Options{Volumes: Needs})}, Print: show, Check: check,
	})
}

func show(o workload.Object) string {
	s := o.GetName()
	switch o := o.(type) {
	case *corev1.PersistentVolume:
		s += " " + string(o.Status.Phase)
		if ref := o.Spec.ClaimRef; ref != nil {
			s += fmt.Sprintf(" %s/%s %s", ref.Namespace, ref.Name, ref.UID)
		}
		if o.Status.Message != "" {
			s += fmt.Sprintf(" %q", o.Status.Message)
		}
	case *corev1.PersistentVolumeClaim:
		s += fmt.Sprintf(" %s on %q", o.Status.Phase, o.Spec.VolumeName)
		if q, ok := o.Status.Capacity[corev1.ResourceStorage]; ok {
			s += fmt.Sprintf(" %v %v", &q, o.Status.AccessModes)
		}
		if o.Spec.StorageClassName != nil {
			s += " class " + *o.Spec.StorageClassName
		}
	}
	for _, k := range slices.Sorted(maps.Keys(o.GetAnnotations())) {
		s += fmt.Sprintf("\n  %s=%s", k, o.GetAnnotations()[k])
	}
	return s
}

// check: no volume is the volume of two bound claims, and a bound claim's volume is at least as large as it was.
func check(w *workloadtest.World) error {
	of := map[string]string{}
	for _, p := range workload.All[*corev1.PersistentVolumeClaim](w, "") {
		if p.Status.Phase != corev1.ClaimBound {
			continue
		}
		if other := of[p.Spec.VolumeName]; other != "" {
			return fmt.Errorf("%s and %s are bound to %s", other, p.Name, p.Spec.VolumeName)
		}
		of[p.Spec.VolumeName] = p.Name
		if v := workload.Get[*corev1.PersistentVolume](w, "", p.Spec.VolumeName); v != nil &&
			size(v).Cmp(p.Status.Capacity[corev1.ResourceStorage]) < 0 {
			return fmt.Errorf("%s is too small for %s", v.Name, p.Name)
		}
	}
	return nil
}
