package simulation

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// term is a required term of the affinity or anti-affinity of a pod.
type term struct {
	key        string
	selector   labels.Selector
	namespaces []string
	// labelled selects further namespaces by their labels; nil for none.
	labelled labels.Selector
}

// termsOf parses terms of the pod (K staging/src/k8s.io/kube-scheduler/framework/types.go: newAffinityTerm). Selectors
// that can't be parsed are rejected by validation; they select nothing.
func termsOf(p *corev1.Pod, all []corev1.PodAffinityTerm) (out []term) {
	for _, a := range all {
		t := term{key: a.TopologyKey, selector: selectorOf(a.LabelSelector), namespaces: a.Namespaces}
		if a.NamespaceSelector != nil {
			t.labelled = selectorOf(a.NamespaceSelector)
		} else if len(t.namespaces) == 0 {
			t.namespaces = []string{p.Namespace}
		}
		out = append(out, t)
	}
	return out
}

func selectorOf(s *metav1.LabelSelector) labels.Selector {
	if out, err := metav1.LabelSelectorAsSelector(s); err == nil {
		return out
	}
	return labels.Nothing()
}

// labelsOf returns the labels of a namespace.
type labelsOf func(namespace string) labels.Set

func (t *term) matches(namespace string, pod labels.Set, of labelsOf) bool {
	return (slices.Contains(t.namespaces, namespace) || t.labelled != nil && t.labelled.Matches(of(namespace))) &&
		t.selector.Matches(pod)
}

// affinitiesOf returns the terms of the pod's affinity and anti-affinity.
func affinitiesOf(p *corev1.Pod) (affinity, anti []term) {
	a := cmp.Or(p.Spec.Affinity, &corev1.Affinity{})
	if a.PodAffinity != nil {
		affinity = termsOf(p, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		anti = termsOf(p, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return affinity, anti
}

// domain is the set of nodes with a value of a label.
type domain struct{ key, value string }

// relations has the affinities between a pod and the pods on nodes.
type relations struct {
	affinity, anti []term
	// near has the domains of pods that match all affinity terms of the pod, far those of pods that match one of its
	// anti-affinity terms, and closed those of pods whose anti-affinity matches the pod.
	near, far, closed map[domain]bool
	// first reports whether the pod matches its own affinity, so that it may be the first such pod.
	first bool
}

// relations compares a pod with the pods on nodes (K pkg/scheduler/framework/plugins/interpodaffinity/filtering.go:
// PreFilter). It reads all pods if the pod has terms, else only pods that have some.
func (c *claims) relations(p *corev1.Pod, of labelsOf) relations {
	r := relations{near: map[domain]bool{}, far: map[domain]bool{}, closed: map[domain]bool{}}
	r.affinity, r.anti = affinitiesOf(p)
	add := func(to map[domain]bool, node, key string) {
		if at := c.places.named[node]; at != nil {
			if value, ok := at.node.Labels[key]; ok {
				to[domain{key, value}] = true
			}
		}
	}
	for other := range c.repelling {
		for _, t := range other.anti {
			if t.matches(p.Namespace, p.Labels, of) {
				add(r.closed, other.node, t.key)
			}
		}
	}
	if len(r.affinity)+len(r.anti) == 0 {
		return r
	}
	matchesAll := func(namespace string, ls labels.Set) bool {
		return !slices.ContainsFunc(r.affinity, func(t term) bool { return !t.matches(namespace, ls, of) })
	}
	for namespace, pods := range c.pods {
		for _, other := range pods {
			if matchesAll(namespace, other.labels) {
				for _, t := range r.affinity {
					add(r.near, other.node, t.key)
				}
			}
			for _, t := range r.anti {
				if t.matches(namespace, other.labels, of) {
					add(r.far, other.node, t.key)
				}
			}
		}
	}
	r.first = len(r.near) == 0 && matchesAll(p.Namespace, p.Labels)
	return r
}

// isRelated is the filter InterPodAffinity.
func isRelated(w *wants, p *place) ([]string, bool) {
	r, has := &w.others, p.node.Labels
	for _, t := range r.affinity {
		if value, ok := has[t.key]; !ok || !r.near[domain{t.key, value}] && !r.first {
			return []string{"node(s) didn't match pod affinity rules"}, false
		}
	}
	for _, t := range r.anti {
		if value, ok := has[t.key]; ok && r.far[domain{t.key, value}] {
			return []string{"node(s) didn't match pod anti-affinity rules"}, true
		}
	}
	for key, value := range has {
		if r.closed[domain{key, value}] {
			return []string{"node(s) didn't satisfy existing pods anti-affinity rules"}, true
		}
	}
	return nil, false
}
