package statefulset

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns statefulset-controller. several is the feature gate MaxUnavailableStatefulSet: without it an update
// replaces one pod after the other.
func New(several bool) workload.Controller {
	return workload.Controller{
		Name: "statefulset-controller", For: workload.StatefulSets,
		Awaits: "spec.minReadySeconds",
		Owns:   []workload.Resource{workload.Pods, workload.Revisions},
		Selector: func(o workload.Object) labels.Selector {
			return workload.Selector(o.(*appsv1.StatefulSet).Spec.Selector)
		},
		Sees: []workload.Resource{workload.Claims}, Wake: claimed,
		Decide: workload.Present(func(v workload.View, set *appsv1.StatefulSet, now time.Time) workload.Plan {
			return decide(&pass{View: v, several: several, set: set, now: now})
		}),
	}
}

// claimed returns the sets to which a created or deleted claim may belong, by its name.
func claimed(r workload.Reader, c workload.Change) []workload.Key {
	if c.Resource != workload.Claims || c.Old != nil && c.New != nil {
		return nil
	}
	m := cmp.Or(c.New, c.Old)
	return workload.KeysOf(workload.All[*appsv1.StatefulSet](r, m.Namespace), func(set *appsv1.StatefulSet) bool {
		return slices.ContainsFunc(templates(set), func(t string) bool {
			return strings.HasPrefix(m.Name, t+"-"+set.Name+"-")
		})
	})
}

// templates returns the names of the set's claim templates.
func templates(set *appsv1.StatefulSet) (names []string) {
	for _, t := range claimTemplates(set) {
		names = append(names, t.Name)
	}
	return names
}

// claimTemplates returns the set's claim templates; of several with the same name, only the last
// (stateful_set_utils.go: getPersistentVolumeClaims).
func claimTemplates(set *appsv1.StatefulSet) (all []*corev1.PersistentVolumeClaim) {
	for i := range set.Spec.VolumeClaimTemplates {
		t := &set.Spec.VolumeClaimTemplates[i]
		same := func(other *corev1.PersistentVolumeClaim) bool { return other.Name == t.Name }
		if at := slices.IndexFunc(all, same); at >= 0 {
			all[at] = t
		} else {
			all = append(all, t)
		}
	}
	return all
}

func decide(s *pass) workload.Plan {
	if do := s.read(); len(do) > 0 {
		return workload.Plan{Do: do} // claimed pods are not changed again in the same pass
	}
	if do, ok := s.revise(); !ok {
		return workload.Plan{Do: do}
	}
	s.arrange()
	if s.set.DeletionTimestamp == nil {
		s.process()
		if s.Failed != nil {
			s.replaced = 0 // none of that is carried out
		}
		s.plan.Do = append(s.plan.Do, s.forget()...)
	}
	s.plan.Status = s.status()
	return s.plan
}
