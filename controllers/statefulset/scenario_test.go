package statefulset

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestScenarios runs testdata.
func TestScenarios(t *testing.T) {
	workloadtest.Scenarios(t, "testdata", workloadtest.Options{
		Controllers: []workload.Controller{New(true)}, Default: defaults, Check: inOrder, Print: show,
	})
}

func defaults(o workload.Object) {
	set, ok := o.(*appsv1.StatefulSet)
	if !ok {
		return
	}
	s := &set.Spec
	if s.Replicas == nil {
		s.Replicas = ptr.To[int32](1)
	}
	if s.PodManagementPolicy == "" {
		s.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	if s.UpdateStrategy.Type == "" {
		s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
	}
	if u := &s.UpdateStrategy; u.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		if u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
		if u.RollingUpdate.Partition == nil {
			u.RollingUpdate.Partition = ptr.To[int32](0)
		}
	}
	if s.RevisionHistoryLimit == nil {
		s.RevisionHistoryLimit = ptr.To[int32](10)
	}
}

// inOrder: no pod of an ordered set is created before all that come before it are ready.
func inOrder(w *workloadtest.World) error {
	for _, o := range w.All(workload.StatefulSets, "") {
		set := o.(*appsv1.StatefulSet)
		if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
			continue
		}
		fresh := ""
		for _, p := range workload.Controlled[*corev1.Pod](w, set.UID) {
			if p.Status.Phase == corev1.PodPending && p.DeletionTimestamp == nil && p.CreationTimestamp.Time.Equal(w.Now) {
				if fresh != "" {
					return fmt.Errorf("%s and %s were created at once", fresh, p.Name)
				}
				fresh = p.Name
			}
		}
	}
	return nil
}

// show prints what matters of an object.
func show(o workload.Object) string {
	s := workload.Of(o).Kind + " " + o.GetName()
	refs := []string{}
	for _, r := range o.GetOwnerReferences() {
		refs = append(refs, fmt.Sprintf("%s %s", r.Kind, r.UID))
	}
	slices.Sort(refs)
	if c := metav1.GetControllerOf(o); c != nil || len(refs) > 0 {
		s += fmt.Sprintf(" of %v", refs)
	}
	if o.GetDeletionTimestamp() != nil {
		s += " deleting"
	}
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		st := o.Status
		s += fmt.Sprintf(": %d replicas, %d ready, %d available, %d current of %s, %d updated of %s, generation %d",
			st.Replicas, st.ReadyReplicas, st.AvailableReplicas, st.CurrentReplicas, st.CurrentRevision, st.UpdatedReplicas,
			st.UpdateRevision, st.ObservedGeneration)
	case *corev1.Pod:
		s += fmt.Sprintf(" %s %v %s", o.Status.Phase, o.Labels, o.Spec.Containers[0].Image)
		for _, v := range o.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				s += " " + v.PersistentVolumeClaim.ClaimName
			}
		}
	case *appsv1.ControllerRevision:
		s += fmt.Sprintf(" number %d %v", o.Revision, o.Labels)
	}
	return s
}
