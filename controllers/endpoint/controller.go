package endpoint

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Slices returns endpointslice-controller.
func Slices() workload.Controller {
	return workload.Controller{Name: "endpoint-slice-controller", For: workload.Services,
		Owns: []workload.Resource{workload.EndpointSlices},
		Sees: []workload.Resource{workload.Pods, workload.Nodes}, Wake: wake,
		Decide: func(v workload.View, _ time.Time) workload.Plan { return selecting(v, sliced) }}
}

// Endpoints returns endpoints-controller.
func Endpoints() workload.Controller {
	return workload.Controller{Name: "endpoint-controller", For: workload.Services,
		Sees: []workload.Resource{workload.Pods, workload.Endpoints},
		Wake: wake, Decide: func(v workload.View, _ time.Time) workload.Plan {
			if v.Object == nil {
				return leftover(v)
			}
			return selecting(v, endpoints)
		}}
}

// selecting returns the plan of a service whose endpoints the controller manages; it plans nothing for others.
func selecting(v workload.View, plan func(workload.Reader, *corev1.Service) workload.Plan) (p workload.Plan) {
	s, _ := v.Object.(*corev1.Service)
	if s != nil && s.Spec.Selector != nil && s.Spec.Type != corev1.ServiceTypeExternalName && s.DeletionTimestamp == nil {
		p = plan(v, s)
	}
	return p
}

// wake returns the services that a change affects. A pod affects the services that select its former or current labels.
// A node affects the services of its pods if its zone changes, is added or is removed. Deleted Endpoints affect their
// service, so that the controller creates them again.
func wake(r workload.Reader, c workload.Change) (keys []workload.Key) {
	of := cmp.Or(c.New, c.Old)
	switch {
	case c.Resource == workload.Endpoints && c.New == nil:
		return []workload.Key{of.Key}
	case c.Resource == workload.Nodes && zone(c.Old) != zone(c.New):
		for _, p := range workload.All[*corev1.Pod](r, "") {
			if p.Spec.NodeName == of.Name {
				m := &workload.Meta{Key: workload.KeyOf(p), Labels: p.Labels}
				keys = append(keys, wake(r, workload.Change{Resource: workload.Pods, New: m})...)
			}
		}
	case c.Resource == workload.Pods:
		return workload.KeysOf(workload.All[*corev1.Service](r, of.Namespace), func(s *corev1.Service) bool {
			chosen := labels.SelectorFromSet(s.Spec.Selector)
			return s.Spec.Selector != nil && (c.Old != nil && chosen.Matches(labels.Set(c.Old.Labels)) ||
				c.New != nil && chosen.Matches(labels.Set(c.New.Labels)))
		})
	}
	return keys
}

// zone returns a node's zone, empty if there is no node.
func zone(m *workload.Meta) string {
	return cmp.Or(m, &workload.Meta{}).Labels[corev1.LabelTopologyZone]
}

// chosen returns the pods of a service that have an address and have not finished; pods that are being deleted only if
// dying is set (k8s.io/endpointslice/util: ShouldPodBeInEndpoints).
func chosen(v workload.Reader, s *corev1.Service, dying bool) (out []*corev1.Pod) {
	selector := labels.SelectorFromSet(s.Spec.Selector)
	for _, p := range workload.All[*corev1.Pod](v, s.Namespace) {
		if p.Status.PodIP == "" && len(p.Status.PodIPs) == 0 || workload.Finished(p) || p.DeletionTimestamp != nil && !dying {
			continue
		}
		if selector.Matches(labels.Set(p.Labels)) {
			out = append(out, p)
		}
	}
	return out
}
