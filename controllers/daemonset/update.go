package daemonset

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// renew replaces outdated pods (update.go: rollingUpdate).
func (s *pass) renew() {
	nodes := map[string]bool{}
	desired := 0
	for node := range s.on {
		nodes[node] = true
	}
	for node, want := range s.want {
		if want {
			nodes[node] = true
			desired++
		}
	}
	sorted := slices.Sorted(maps.Keys(nodes))
	surge, unavailable := s.share(desired, true), s.share(desired, false)
	switch {
	case surge > 0:
		s.renewBeside(sorted, desired, surge)
	case desired > 0:
		s.renewInPlace(sorted, max(1, unavailable))
	default:
		s.renewInPlace(sorted, unavailable)
	}
}

// parted returns the pod of the current template and the outdated one on a node, each nil if there is none; ok is false
// if there are more (update.go: findUpdatedPodsOnNode).
func (s *pass) parted(node string) (current, old *corev1.Pod, ok bool) {
	for _, p := range s.on[node] {
		place := &old
		if s.updated(p) {
			place = &current
		}
		switch {
		case leaving(p):
		case *place != nil:
			return nil, nil, false
		default:
			*place = p
		}
	}
	return current, old, true
}

// renewInPlace deletes outdated pods: unavailable ones, and as many others as may be unavailable. Later passes create
// new pods.
func (s *pass) renewInPlace(nodes []string, limit int) {
	var candidates []*corev1.Pod
	missing := 0
	for _, node := range nodes {
		switch current, old, ok := s.parted(node); {
		case !ok, (current == nil) == (old == nil):
			missing++
		case current != nil:
			if !s.available(current) {
				missing++
			}
		case !s.available(old):
			s.remove = append(s.remove, old)
			missing++
		default:
			candidates = append(candidates, old)
		}
	}
	s.remove = append(s.remove, candidates[:max(0, min(limit-missing, len(candidates)))]...)
}

// renewBeside creates pods beside outdated ones, and deletes these when the new ones are available.
func (s *pass) renewBeside(nodes []string, desired, limit int) {
	var candidates []string
	var unwanted []*corev1.Pod
	surging, working := 0, 0
	for _, node := range nodes {
		current, old, ok := s.parted(node)
		if !ok {
			surging++
			continue
		}
		if old != nil && s.available(old) || old == nil && current != nil && s.available(current) {
			working++
		}
		switch {
		case old == nil:
		case current != nil && s.available(current):
			s.remove = append(s.remove, old)
		case current != nil:
			surging++
		case s.want[node] && s.available(old):
			candidates = append(candidates, node)
		case s.want[node]:
			s.create = append(s.create, node) // the old pod is not available anyway
		case s.available(old):
			unwanted = append(unwanted, old)
		default:
			s.remove = append(s.remove, old)
		}
	}
	// On a node that is no longer suitable, a pod stays until another node's pod is available instead.
	s.remove = append(s.remove, unwanted[:max(0, min(working-desired, len(unwanted)))]...)
	s.create = append(s.create, candidates[:max(0, min(limit-surging, len(candidates)))]...)
}
