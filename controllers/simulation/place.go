package simulation

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// load is the sum of the resources that the pods on a node use.
type load struct {
	pods    int64
	amounts amounts
	// ports is a list because it is short: most pods have no host ports.
	ports []port
}

func (l *load) occupied(ports []port) bool {
	return slices.ContainsFunc(ports, func(p port) bool { return slices.ContainsFunc(l.ports, p.collides) })
}

// place is a node as the filters read it: it is parsed when the node changes, not for each pod.
type place struct {
	*load
	node        *corev1.Node
	allocatable amounts
	// limit is the maximum number of pods.
	limit int64
	// repel has the taints that keep pods away, avoid those that pods should avoid.
	repel, avoid []corev1.Taint
}

// placeOf parses a node. lenient ignores taints for conditions of nodes that are ready and not under pressure.
func placeOf(n *corev1.Node, l *load, lenient bool) *place {
	p := &place{load: l, node: n, allocatable: amountsOf(n.Status.Allocatable), limit: math.MaxInt64}
	if q, ok := n.Status.Allocatable[corev1.ResourcePods]; ok {
		p.limit = q.Value()
	}
	i := ready(n)
	lenient = lenient && !pressed(n) && (i < 0 || n.Status.Conditions[i].Status == corev1.ConditionTrue)
	for _, t := range n.Spec.Taints {
		switch {
		case t.Effect == corev1.TaintEffectPreferNoSchedule:
			p.avoid = append(p.avoid, t)
		case !lenient || !strings.HasPrefix(t.Key, "node.kubernetes.io/"):
			p.repel = append(p.repel, t)
		}
	}
	return p
}

// places has all nodes, by name.
type places struct {
	nodes []*corev1.Node
	list  []*place
	named map[string]*place
	// declared has the resources that at least one node declares. Others are ignored.
	declared map[corev1.ResourceName]bool
}

// survey parses the nodes that have changed: a Reader returns the same pointer for the same state.
func (c *claims) survey(nodes []*corev1.Node, lenient bool) {
	if slices.Equal(nodes, c.places.nodes) {
		return
	}
	had := c.places.named
	c.places = places{nodes: nodes, named: map[string]*place{}, declared: map[corev1.ResourceName]bool{}}
	for _, n := range nodes {
		p := had[n.Name]
		if p == nil || p.node != n {
			p = placeOf(n, c.load(n.Name), lenient)
		}
		c.places.list, c.places.named[n.Name] = append(c.places.list, p), p
		for _, a := range p.allocatable {
			c.places.declared[a.of] = true
		}
	}
	maps.DeleteFunc(c.loads, func(name string, l *load) bool { return l.pods == 0 && c.places.named[name] == nil })
}
