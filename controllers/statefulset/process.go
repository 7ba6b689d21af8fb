package statefulset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// process plans creations and deletions: first the wanted pods, then surplus ones, then outdated ones
// (stateful_set_control.go: updateStatefulSet).
func (s *pass) process() {
	for _, r := range s.replicas {
		if done := s.replica(r); !done && s.ordered() {
			return
		}
	}
	for _, p := range s.surplus {
		s.plan.Do = append(s.plan.Do, s.retention(p)...)
	}
	for _, p := range s.surplus {
		if done := s.condemned(p); !done && s.ordered() {
			return
		}
	}
	switch {
	case s.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
	case s.several:
		s.renew()
	default:
		s.renewOne()
	}
}

func (s *pass) do(actions ...workload.Action) { s.plan.Do = append(s.plan.Do, actions...) }

// replica handles the pod of an ordinal; done is false if later ones must wait (stateful_set_control.go:
// processReplica).
func (s *pass) replica(at place) (done bool) {
	p := at.pod
	switch {
	case p == nil:
		s.create(s.newPod(at.number))
		return false
	case workload.Finished(p):
		if p.DeletionTimestamp == nil {
			s.remove(p) // a new pod is created when this one is gone
		}
		return false
	}
	if p.Status.Phase == corev1.PodPending {
		s.do(s.missing(p)...)
	}
	if s.ordered() && (p.DeletionTimestamp != nil || !healthy(p) || !s.available(p)) {
		return false
	}
	s.do(s.retention(p)...)
	s.do(s.identify(p)...)
	return true
}

// condemned handles a surplus pod (stateful_set_control.go: processCondemned).
func (s *pass) condemned(p *corev1.Pod) (done bool) {
	switch {
	case p.DeletionTimestamp != nil:
		return false
	case s.ordered() && p != s.unhealthy && (!healthy(p) || !s.available(p)):
		return false
	}
	s.remove(p)
	return false
}

// create plans a pod once its claims exist.
func (s *pass) create(p *corev1.Pod) {
	if s.blocked(p) {
		return // the claim's deletion causes another pass
	}
	if claims := s.missing(p); len(claims) > 0 {
		s.do(claims...)
		return
	}
	about := fmt.Sprintf("create Pod %s in StatefulSet %s ", p.Name, s.set.Name)
	s.do(workload.Create{Object: p,
		Done:   workload.Normal("SuccessfulCreate", about+"successful"),
		Failed: workload.Warning("FailedCreate", about+"failed error: "+workload.Problem)})
}

func (s *pass) remove(p *corev1.Pod) {
	about := fmt.Sprintf("delete Pod %s in StatefulSet %s ", p.Name, s.set.Name)
	s.do(workload.Delete{Object: p,
		Done:   workload.Normal("SuccessfulDelete", about+"successful"),
		Failed: workload.Warning("FailedDelete", about+"failed error: "+workload.Problem)})
}

// identify adds the labels that identify a pod of the set, which an adopted pod lacks.
func (s *pass) identify(p *corev1.Pod) []workload.Action {
	if p.Labels[appsv1.StatefulSetPodNameLabel] == p.Name {
		return nil
	}
	p = p.DeepCopy()
	p.Labels[appsv1.StatefulSetPodNameLabel] = p.Name
	p.Labels[appsv1.PodIndexLabel] = fmt.Sprint(ordinal(p))
	return []workload.Action{workload.Update{Object: p}}
}
