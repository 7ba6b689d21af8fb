package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// mirrorer is the value of the label endpointslice.kubernetes.io/managed-by in slices that mirror Endpoints.
const mirrorer = "endpointslicemirroring-controller.k8s.io"

// Mirror returns endpointslice-mirroring-controller.
func Mirror() workload.Controller {
	return workload.Controller{Name: "endpoint-slice-mirroring-controller", For: workload.Endpoints,
		Sees: []workload.Resource{workload.Services, workload.EndpointSlices}, Wake: endpointsOf,
		Decide: func(v workload.View, _ time.Time) workload.Plan {
			e, _ := v.Object.(*corev1.Endpoints)
			return planMirror(v, e)
		}}
}

// endpointsOf returns the Endpoints of a changed service, by its name, or of a mirroring slice, by its label.
func endpointsOf(_ workload.Reader, c workload.Change) (keys []workload.Key) {
	for _, m := range []*workload.Meta{c.Old, c.New} {
		switch {
		case m == nil:
		case c.Resource == workload.Services:
			keys = append(keys, m.Key)
		case c.Resource == workload.EndpointSlices && m.Labels[discoveryv1.LabelManagedBy] == mirrorer:
			keys = append(keys, workload.Key{Namespace: m.Namespace, Name: m.Labels[discoveryv1.LabelServiceName]})
		}
	}
	return keys
}

// planMirror plans the slices of Endpoints that users create for a service; e is nil if the Endpoints are gone
// (endpointslicemirroring_controller.go: syncEndpoints).
func planMirror(v workload.View, e *corev1.Endpoints) (p workload.Plan) {
	var have []*discoveryv1.EndpointSlice
	for _, s := range workload.All[*discoveryv1.EndpointSlice](v, v.Key.Namespace) {
		if s.Labels[discoveryv1.LabelManagedBy] == mirrorer && s.Labels[discoveryv1.LabelServiceName] == v.Key.Name &&
			s.DeletionTimestamp == nil {
			have = append(have, s)
		}
	}
	wanted := map[string]*discoveryv1.EndpointSlice{}
	if shouldMirror(v, e) {
		var skipped int
		if wanted, skipped = newSlices(e); skipped > 0 {
			p.Events = append(p.Events, workload.Warning("TooManyAddressesToMirror", fmt.Sprintf(
				"A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped",
				mostAddresses, skipped)))
		}
	}
	for _, s := range have {
		key := sliceKey(s)
		want := wanted[key]
		delete(wanted, key)
		if want == nil {
			p.Do = append(p.Do, workload.Delete{Object: s})
			continue
		}
		next := s.DeepCopy()
		next.Endpoints = want.Endpoints
		describe(next, e)
		if !equality.Semantic.DeepEqual(s, next) {
			p.Do = append(p.Do, workload.Update{Object: next})
		}
	}
	if e != nil && e.DeletionTimestamp == nil {
		for _, key := range slices.Sorted(maps.Keys(wanted)) {
			p.Do = append(p.Do, workload.Create{Object: wanted[key]})
		}
	}
	slices.SortStableFunc(p.Do, func(a, b workload.Action) int { return cmp.Compare(order(a), order(b)) })
	return p
}

// shouldMirror reports whether the Endpoints are to be mirrored: their service has no selector, they are not a leader
// election lock, and they don't have the label skip-mirror.
func shouldMirror(r workload.Reader, e *corev1.Endpoints) bool {
	if e == nil || e.Labels[discoveryv1.LabelSkipMirror] == "true" {
		return false
	}
	if _, lock := e.Annotations[leaderKey]; lock {
		return false
	}
	s := workload.Get[*corev1.Service](r, e.Namespace, e.Name)
	return s != nil && s.Spec.Selector == nil
}

// sliceKey identifies a slice among those that mirror the same Endpoints.
func sliceKey(s *discoveryv1.EndpointSlice) string {
	return fmt.Sprint(s.AddressType, portKey(s.Ports))
}

// newSlices returns the slices that mirror the Endpoints, by their keys; skipped is the number of addresses beyond the
// limit (reconciler.go: reconcile).
func newSlices(e *corev1.Endpoints) (out map[string]*discoveryv1.EndpointSlice, skipped int) {
	out = map[string]*discoveryv1.EndpointSlice{}
	for _, subset := range e.Subsets {
		taken := 0
		for i, list := range [][]corev1.EndpointAddress{subset.Addresses, subset.NotReadyAddresses} {
			for _, a := range list {
				if taken == mostAddresses {
					skipped++
					continue
				}
				taken++
				addAddress(out, e, subset.Ports, a, i == 0)
			}
		}
	}
	return out, skipped
}

// addAddress adds an address to the slice for its family and ports, unless the slice has it.
func addAddress(
	out map[string]*discoveryv1.EndpointSlice, e *corev1.Endpoints, ports []corev1.EndpointPort, a corev1.EndpointAddress,
	ready bool,
) {
	ip := netutils.ParseIPSloppy(a.IP) // addresses were validated
	s := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{}}
	if ip.To4() == nil {
		s.AddressType = discoveryv1.AddressTypeIPv6
	}
	for _, p := range ports {
		s.Ports = append(s.Ports, discoveryv1.EndpointPort{
			Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol, AppProtocol: p.AppProtocol})
	}
	key := sliceKey(s)
	if out[key] == nil {
		s.Namespace, s.GenerateName = e.Namespace, prefix(e.Name)
		describe(s, e)
		out[key] = s
	}
	next := discoveryv1.Endpoint{Addresses: []string{ip.String()},
		Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		TargetRef:  a.TargetRef.DeepCopy(), NodeName: a.NodeName, Hostname: pointer(a.Hostname)}
	same := func(o discoveryv1.Endpoint) bool {
		return o.Addresses[0] == next.Addresses[0] && equality.Semantic.DeepEqual(o.Hostname, next.Hostname) &&
			equality.Semantic.DeepEqual(o.TargetRef, next.TargetRef)
	}
	if !slices.ContainsFunc(out[key].Endpoints, same) {
		out[key].Endpoints = append(out[key].Endpoints, next)
	}
}

// describe copies the labels and annotations of the Endpoints to a slice, and makes the Endpoints the slice's
// controller (I-02; utils.go: newEndpointSlice).
func describe(s *discoveryv1.EndpointSlice, e *corev1.Endpoints) {
	s.Labels = labels.Merge(e.Labels,
		map[string]string{discoveryv1.LabelServiceName: e.Name, discoveryv1.LabelManagedBy: mirrorer})
	s.Annotations = maps.Clone(e.Annotations)
	delete(s.Annotations, corev1.EndpointsLastChangeTriggerTime)
	delete(s.Annotations, corev1.LastAppliedConfigAnnotation)
	s.OwnerReferences = []metav1.OwnerReference{workload.ControllerRef(e)}
}
