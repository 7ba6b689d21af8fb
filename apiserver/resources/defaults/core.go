package defaults

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// Endpoints fills in the protocol of ports.
func Endpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		for j := range e.Subsets[i].Ports {
			fill(&e.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

// LimitRange derives the defaults of limits for containers: a default limit is the maximum, a
// default request is the default limit, or else the minimum.
func LimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		limitRangeItem(item)
		for _, list := range []corev1.ResourceList{
			item.Max, item.Min, item.Default, item.DefaultRequest, item.MaxLimitRequestRatio,
		} {
			round(list)
		}
	}
}

func limitRangeItem(i *corev1.LimitRangeItem) {
	if i.Type != corev1.LimitTypeContainer {
		return
	}
	if i.Default == nil {
		i.Default = corev1.ResourceList{}
	}
	if i.DefaultRequest == nil {
		i.DefaultRequest = corev1.ResourceList{}
	}
	missing(i.Default, i.Max)
	missing(i.DefaultRequest, i.Default)
	missing(i.DefaultRequest, i.Min)
}

// Namespace forces the label with the namespace's name, once it has one, and fills in the
// phase.
func Namespace(n *corev1.Namespace) {
	if n.Name != "" {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[corev1.LabelMetadataName] = n.Name
	}
	fill(&n.Status.Phase, corev1.NamespaceActive)
}

// Node makes all of a node's capacity allocatable if it doesn't say what is.
func Node(n *corev1.Node) {
	if n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
	ranges(&n.Spec)
	round(n.Status.Capacity)
	round(n.Status.Allocatable)
}

// ReplicationController takes selector and labels from the template's labels, and wants one pod.
func ReplicationController(c *corev1.ReplicationController) {
	if t := c.Spec.Template; t != nil && t.Labels != nil {
		if len(c.Spec.Selector) == 0 {
			c.Spec.Selector = maps.Clone(t.Labels)
		}
		if len(c.Labels) == 0 {
			c.Labels = maps.Clone(t.Labels)
		}
	}
	set(&c.Spec.Replicas, 1)
	if c.Spec.Template != nil {
		template(c.Spec.Template)
	}
}

// ResourceQuota rounds its quantities.
func ResourceQuota(q *corev1.ResourceQuota) {
	for _, list := range []corev1.ResourceList{q.Spec.Hard, q.Status.Hard, q.Status.Used} {
		round(list)
	}
}

// Secret is opaque unless it says otherwise.
func Secret(s *corev1.Secret) {
	fill(&s.Type, corev1.SecretTypeOpaque)
	foldStrings(s)
}
