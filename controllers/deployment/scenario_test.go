package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/replicaset"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata, with the controller of ReplicaSets.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{New(), replicaset.New()}, Print: show, Default: fill,
		Check: func(w *workloadtest.World) error {
			for _, d := range workload.All[*appsv1.Deployment](w, "") {
				if err := check(w, d); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// check: the newest ReplicaSet never makes there be more pods than there may; ReplicaSets are called by the
// deployment and their hash, which is in their labels, selector and template (I-06).
func check(w *workloadtest.World, d *appsv1.Deployment) error {
	surge, _ := bounds(d, ptr.Deref(d.Spec.Replicas, 1))
	all := workload.Controlled[*appsv1.ReplicaSet](w, d.UID)
	for _, rs := range all {
		hash := rs.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		if strings.HasPrefix(rs.Name, "by-hand") {
			continue
		}
		if rs.Name != d.Name+"-"+hash || rs.Spec.Selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey] != hash ||
			rs.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash {
			return fmt.Errorf("%s has the hash %s", rs.Name, hash)
		}
		n, ok := noted(rs, maxKey)
		if wanted := sum(all, size); ok && n == ptr.Deref(d.Spec.Replicas, 1)+surge && wanted > n {
			return fmt.Errorf("%d pods are wanted, not %d", wanted, n)
		}
	}
	return nil
}

// fill does what defaulting does.
func fill(o workload.Object) {
	if d, ok := o.(*appsv1.Deployment); ok && d.Spec.RevisionHistoryLimit == nil {
		d.Spec.RevisionHistoryLimit = new(int32(10))
	}
}

// show prints what matters of an object. Hashes are printed as they are: they don't change.
func show(o workload.Object) string {
	s := workload.Of(o).Kind + " " + o.GetName()
	if c := metav1.GetControllerOf(o); c != nil {
		s += fmt.Sprintf(" of %s", c.Name)
	}
	var notes []string
	for k, v := range o.GetAnnotations() {
		notes = append(notes, strings.TrimPrefix(k, "deployment.kubernetes.io/")+"="+v)
	}
	slices.Sort(notes)
	s += fmt.Sprint(" ", notes)
	switch o := o.(type) {
	case *appsv1.Deployment:
		st := o.Status
		s += fmt.Sprintf(" generation %d: %d pods, %d updated, %d ready, %d available, %d unavailable", st.ObservedGeneration,
			st.Replicas,
			st.UpdatedReplicas, st.ReadyReplicas, st.AvailableReplicas, st.UnavailableReplicas)
		for _, c := range st.Conditions {
			s += fmt.Sprintf("\n  %s=%s %s: %s (%v, %v)", c.Type, c.Status, c.Reason, c.Message,
				c.LastTransitionTime.Sub(workloadtest.Epoch), c.LastUpdateTime.Sub(workloadtest.Epoch))
		}
		if st.CollisionCount != nil {
			s += fmt.Sprintf("\n  %d collisions", *st.CollisionCount)
		}
	case *appsv1.ReplicaSet:
		s += fmt.Sprintf(" wants %d, has %d, available %d", size(o), o.Status.Replicas, o.Status.AvailableReplicas)
	}
	return s
}
