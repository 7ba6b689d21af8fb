package simulation

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// spread is a constraint that must hold, with the pods that it counts.
type spread struct {
	key string
	// room is the maximum number of counted pods in a domain that can still get the pod.
	room  int
	count map[string]int
}

// spreads counts the pods of a pod's topology spread constraints with DoNotSchedule (K
// pkg/scheduler/framework/plugins/podtopologyspread/filtering.go: calPreFilterState, Filter).
func (c *claims) spreads(p *corev1.Pod, affinity nodeaffinity.RequiredNodeAffinity) (out []spread) {
	constraints := slices.DeleteFunc(slices.Clone(p.Spec.TopologySpreadConstraints),
		func(t corev1.TopologySpreadConstraint) bool { return t.WhenUnsatisfiable != corev1.DoNotSchedule })
	for _, t := range constraints {
		selector := selectorOf(t.LabelSelector)
		onNode := map[string]int{}
		for _, other := range c.pods[p.Namespace] {
			if !other.ending && !selector.Empty() && selector.Matches(labels.Set(other.labels)) {
				onNode[other.node]++
			}
		}
		s := spread{key: t.TopologyKey, count: map[string]int{}}
		for _, at := range c.places.list {
			if counts(p, &t, at, affinity) && !slices.ContainsFunc(constraints, at.lacks) {
				s.count[at.node.Labels[t.TopologyKey]] += onNode[at.node.Name]
			}
		}
		s.room = int(t.MaxSkew) + least(s.count, t.MinDomains)
		if selector.Matches(labels.Set(p.Labels)) {
			s.room--
		}
		out = append(out, s)
	}
	return out
}

// counts reports whether the policies of a constraint include a node (K
// pkg/scheduler/framework/plugins/podtopologyspread/common.go: matchNodeInclusionPolicies).
func counts(p *corev1.Pod, t *corev1.TopologySpreadConstraint, at *place, a nodeaffinity.RequiredNodeAffinity) bool {
	if t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if ok, err := a.Match(at.node); err != nil || !ok {
			return false
		}
	}
	return t.NodeTaintsPolicy == nil || *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyIgnore || tolerates(p, at.repel)
}

// lacks reports whether the node isn't in any domain of a constraint.
func (p *place) lacks(t corev1.TopologySpreadConstraint) bool {
	_, ok := p.node.Labels[t.TopologyKey]
	return !ok
}

// least returns the smallest number of pods in a domain; 0 if there are fewer domains than required.
func least(count map[string]int, domains *int32) int {
	if len(count) == 0 || domains != nil && len(count) < int(*domains) {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(count)))
}

// isSpread is the filter PodTopologySpread.
func isSpread(w *wants, p *place) ([]string, bool) {
	for _, s := range w.spread {
		switch value, ok := p.node.Labels[s.key]; {
		case !ok:
			return []string{"node(s) didn't match pod topology spread constraints (missing required label)"}, false
		case s.count[value] > s.room:
			return []string{"node(s) didn't match pod topology spread constraints"}, true
		}
	}
	return nil, false
}
