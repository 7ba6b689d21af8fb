package daemonset

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// mostPods is the maximum number of pods that one pass creates and deletes (daemon_controller.go: BurstReplicas).
const mostPods = 250

// manage decides which nodes get a pod and which pods are deleted, without regard to outdated ones
// (daemon_controller.go: manage, podsShouldBeOnNode).
func (s *pass) manage() {
	for _, n := range s.nodes {
		pods, exists := s.on[n.Name]
		switch {
		case s.want[n.Name] && !exists:
			s.create = append(s.create, n.Name)
		case s.keep[n.Name]:
			s.prune(n.Name, pods)
		default:
			s.remove = append(s.remove, slices.DeleteFunc(slices.Clone(pods), leaving)...)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(s.on)) {
		if _, known := s.want[node]; known {
			continue
		}
		// No other controller deletes pods that wait for a node that is gone.
		for _, p := range s.on[node] {
			if p.Spec.NodeName == "" && !leaving(p) {
				s.remove = append(s.remove, p)
			}
		}
	}
}

func leaving(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }

// prune deletes the surplus pods of a node: finished ones, and all but one of the others, or two during a surge.
func (s *pass) prune(node string, pods []*corev1.Pod) {
	var running []*corev1.Pod
	for _, p := range pods {
		switch {
		case leaving(p):
		case p.Status.Phase == corev1.PodFailed:
			s.failure(node, p)
		case p.Status.Phase == corev1.PodSucceeded:
			s.event(workload.Normal("SucceededDaemonPod",
				fmt.Sprintf("Found succeeded daemon pod %s/%s on node %s, will try to delete it", p.Namespace, p.Name, node)))
			s.remove = append(s.remove, p)
		default:
			running = append(running, p)
		}
	}
	switch {
	case len(running) == 0 && s.surges() && s.want[node]:
		s.create = append(s.create, node)
	case len(running) > 1 && s.surges():
		s.surging(running)
	case len(running) > 1:
		s.remove = append(s.remove, running[1:]...)
	}
}

// surging keeps one pod of the current template, and one other until the former is available or the latter isn't ready.
func (s *pass) surging(running []*corev1.Pod) {
	var current, old *corev1.Pod
	for _, p := range running {
		switch is := p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == s.hash; {
		case is && current == nil:
			current = p
		case !is && old == nil:
			old = p
		default:
			s.remove = append(s.remove, p)
		}
	}
	if current == nil || old == nil {
		return
	}
	if !workload.IsReady(old) || s.available(current) {
		s.remove = append(s.remove, old)
	}
}

// failure deletes a failed pod, unless it is too soon after the last one on the node.
func (s *pass) failure(node string, p *corev1.Pod) {
	on := place{node, s.set.UID, s.set.Status.ObservedGeneration}
	before := s.failed.of(on)
	if at := before.last.Add(pauses.After(before.times)); s.now.Before(at) {
		s.plan.Within(at.Sub(s.now))
		return
	}
	s.failed.Store(on, failure{before.times + 1, s.now})
	s.event(workload.Warning("FailedDaemonPod",
		fmt.Sprintf("Found failed daemon pod %s/%s on node %s, will try to kill it", p.Namespace, p.Name, node)))
	s.remove = append(s.remove, p)
}

func (s *pass) event(e event) { s.plan.Events = append(s.plan.Events, e) }

// surges reports whether a new pod may run beside the old one.
func (s *pass) surges() bool { return s.share(1, true) > 0 }

// share returns maxSurge or maxUnavailable for a number of nodes, rounded up; 0 without a rolling update (daemon/util:
// SurgeCount, UnavailableCount).
func (s *pass) share(nodes int, surge bool) int {
	u := s.set.Spec.UpdateStrategy
	if u.Type != appsv1.RollingUpdateDaemonSetStrategyType || u.RollingUpdate == nil {
		return 0
	}
	value := u.RollingUpdate.MaxUnavailable
	if surge {
		value = u.RollingUpdate.MaxSurge
	}
	n, _ := intstr.GetScaledValueFromIntOrPercent(value, nodes, true) // 0 with an error, as without a value
	return n
}

func (s *pass) carryOut() {
	for _, node := range s.create[:min(len(s.create), mostPods)] {
		s.plan.Do = append(s.plan.Do, workload.CreatePod(s.newPod(node)))
	}
	for _, p := range s.remove[:min(len(s.remove), mostPods)] {
		s.plan.Do = append(s.plan.Do, workload.DeletePod(p))
	}
}
