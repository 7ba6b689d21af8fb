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
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

const (
	manager = "endpointslice-controller.k8s.io"
	// mostEndpoints is the maximum number of endpoints of a slice (--max-endpoints-per-slice).
	mostEndpoints = 100
)

// sliced plans the slices of a service, family by family.
func sliced(v workload.Reader, s *corev1.Service) (p workload.Plan) {
	pods := chosen(v, s, true)
	have := slices.DeleteFunc(workload.Controlled[*discoveryv1.EndpointSlice](v, s.UID),
		func(e *discoveryv1.EndpointSlice) bool {
			return e.Labels[discoveryv1.LabelManagedBy] != manager || e.DeletionTimestamp != nil
		})
	wanted := families(s)
	for _, family := range wanted {
		mine := slices.DeleteFunc(slices.Clone(have), func(e *discoveryv1.EndpointSlice) bool {
			return e.AddressType != family
		})
		p.Do = append(p.Do, planned(v, s, family, pods, mine)...)
	}
	for _, e := range have {
		if !slices.Contains(wanted, e.AddressType) {
			p.Do = append(p.Do, workload.Delete{Object: e})
		}
	}
	slices.SortStableFunc(p.Do, func(a, b workload.Action) int { return cmp.Compare(order(a), order(b)) })
	var next []*discoveryv1.EndpointSlice
	for _, a := range p.Do {
		if o, _, _ := a.Target(); order(a) < 2 {
			next = append(next, o.(*discoveryv1.EndpointSlice))
		}
	}
	since := s.CreationTimestamp.Time
	if len(have) > 0 {
		since = changed(pods, shown(have), shown(next))
	}
	for _, e := range next {
		trigger(&e.ObjectMeta, since)
	}
	return p
}

// order orders actions: those that remove no endpoint come first.
func order(a workload.Action) int {
	switch a.(type) {
	case workload.Create:
		return 0
	case workload.Update:
		return 1
	}
	return 2
}

// group has endpoints with the same ports.
type group struct {
	ports     []discoveryv1.EndpointPort
	endpoints []discoveryv1.Endpoint
}

// grouped groups pods by the port numbers that the service's ports have in them.
func grouped(
	v workload.Reader, s *corev1.Service, family discoveryv1.AddressType, pods []*corev1.Pod,
) map[string]*group {
	groups := map[string]*group{}
	for _, p := range pods {
		at := addresses(p, family)
		if len(at) == 0 {
			continue
		}
		ports := portsOf(s, p)
		key := fmt.Sprint(portKey(ports))
		if groups[key] == nil {
			groups[key] = &group{ports: ports}
		}
		groups[key].endpoints = append(groups[key].endpoints, endpointOf(v, s, p, at))
	}
	return groups
}

func portsOf(s *corev1.Service, p *corev1.Pod) (out []discoveryv1.EndpointPort) {
	for _, port := range s.Spec.Ports {
		if n, ok := target(p, port); ok {
			out = append(out, discoveryv1.EndpointPort{
				Name: &port.Name, Port: &n, Protocol: &port.Protocol, AppProtocol: port.AppProtocol})
		}
	}
	return out
}

// portKey returns a text for each port; equal ports have equal texts.
func portKey(ports []discoveryv1.EndpointPort) (out []string) {
	for _, p := range ports {
		out = append(out, fmt.Sprintf("%q %d %s %q", ptr.Deref(p.Name, ""), ptr.Deref(p.Port, 0),
			ptr.Deref(p.Protocol, corev1.ProtocolTCP), ptr.Deref(p.AppProtocol, "")))
	}
	slices.Sort(out)
	return out
}

// endpointOf returns a pod's endpoint (k8s.io/endpointslice: podToEndpoint).
func endpointOf(v workload.Reader, s *corev1.Service, p *corev1.Pod, at []string) discoveryv1.Endpoint {
	serving, dying := workload.IsReady(p), p.DeletionTimestamp != nil
	is := s.Spec.PublishNotReadyAddresses || serving && !dying
	e := discoveryv1.Endpoint{Addresses: at, TargetRef: reference(p), NodeName: pointer(p.Spec.NodeName),
		Conditions: discoveryv1.EndpointConditions{Ready: &is, Serving: &serving, Terminating: &dying}}
	if n := workload.Get[*corev1.Node](v, "", p.Spec.NodeName); n != nil {
		e.Zone = pointer(n.Labels[corev1.LabelTopologyZone])
	}
	if named(p, s) {
		e.Hostname = pointer(p.Spec.Hostname)
	}
	if is {
		e.Hints = hints(s, &e)
	}
	return e
}

// hints are those of a ready endpoint for spec.trafficDistribution (k8s.io/endpointslice/trafficdist). The annotation
// of topology aware routing has precedence (k8s.io/endpointslice: hintsEnabled).
func hints(s *corev1.Service, e *discoveryv1.Endpoint) *discoveryv1.EndpointHints {
	a := s.Annotations
	auto, ok := a[corev1.DeprecatedAnnotationTopologyAwareHints]
	if !ok {
		auto = a[corev1.AnnotationTopologyMode]
	}
	if s.Spec.TrafficDistribution == nil || auto == "Auto" || auto == "auto" {
		return nil
	}
	var h discoveryv1.EndpointHints
	if e.Zone != nil {
		h.ForZones = []discoveryv1.ForZone{{Name: *e.Zone}}
	}
	if e.NodeName != nil && *s.Spec.TrafficDistribution == corev1.ServiceTrafficDistributionPreferSameNode {
		h.ForNodes = []discoveryv1.ForNode{{Name: *e.NodeName}}
	}
	if h.ForZones == nil && h.ForNodes == nil {
		return nil
	}
	return &h
}

// planned plans the slices of one family.
func planned(
	v workload.Reader, s *corev1.Service, family discoveryv1.AddressType, pods []*corev1.Pod,
	have []*discoveryv1.EndpointSlice,
) (do []workload.Action) {
	groups := grouped(v, s, family, pods)
	if len(groups) == 0 {
		groups = map[string]*group{fmt.Sprint(portKey(nil)): {endpoints: nil}}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		mine := slices.DeleteFunc(slices.Clone(have), func(e *discoveryv1.EndpointSlice) bool {
			return fmt.Sprint(portKey(e.Ports)) != key
		})
		have = slices.DeleteFunc(have, func(e *discoveryv1.EndpointSlice) bool { return slices.Contains(mine, e) })
		contents := distribute(g.endpoints, mine)
		for i, c := range contents {
			if i >= len(mine) {
				do = append(do, workload.Create{Object: made(s, family, g.ports, c)})
			} else if len(c) == 0 && (len(g.endpoints) > 0 || i > 0) {
				do = append(do, workload.Delete{Object: mine[i]})
			} else if next, ok := renewed(s, mine[i], c); ok {
				do = append(do, workload.Update{Object: next})
			}
		}
	}
	for _, e := range have {
		do = append(do, workload.Delete{Object: e})
	}
	return recycle(do)
}

// recycle turns a deletion and a creation of slices into an update, so that the name is kept (recycleSlices).
func recycle(do []workload.Action) (out []workload.Action) {
	var spare []*discoveryv1.EndpointSlice
	for _, a := range do {
		if d, ok := a.(workload.Delete); ok {
			spare = append(spare, d.Object.(*discoveryv1.EndpointSlice))
		}
	}
	for _, a := range do {
		if c, ok := a.(workload.Create); ok && len(spare) > 0 {
			next, to := spare[0].DeepCopy(), c.Object.(*discoveryv1.EndpointSlice)
			next.Labels, next.Annotations, next.Ports, next.Endpoints = to.Labels, to.Annotations, to.Ports, to.Endpoints
			a, spare = workload.Update{Object: next}, spare[1:]
		}
		out = append(out, a)
	}
	return slices.DeleteFunc(out, func(a workload.Action) bool {
		d, ok := a.(workload.Delete)
		return ok && !slices.Contains(spare, d.Object.(*discoveryv1.EndpointSlice))
	})
}

// distribute returns the endpoints of each slice: the present ones that are still wanted, filled up with new ones; then
// those of new slices. The result has at least one slice.
func distribute(wanted []discoveryv1.Endpoint, have []*discoveryv1.EndpointSlice) (out [][]discoveryv1.Endpoint) {
	rest := map[types.UID]discoveryv1.Endpoint{}
	for _, e := range wanted {
		rest[e.TargetRef.UID] = e
	}
	for _, s := range have {
		var kept []discoveryv1.Endpoint
		for _, e := range s.Endpoints {
			if e.TargetRef == nil {
				continue
			}
			if now, ok := rest[e.TargetRef.UID]; ok {
				kept = append(kept, now)
				delete(rest, e.TargetRef.UID)
			}
		}
		out = append(out, kept)
	}
	i := 0
	for _, e := range wanted {
		if _, ok := rest[e.TargetRef.UID]; !ok {
			continue
		}
		for i < len(out) && len(out[i]) >= mostEndpoints {
			i++
		}
		if i == len(out) {
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	if len(out) == 0 {
		out = append(out, nil)
	}
	return out
}

func prefix(service string) string {
	if p := service + "-"; len(validation.NameIsDNSSubdomain(p, true)) == 0 {
		return p
	}
	return service
}

// made returns a new slice (I-09).
func made(
	s *corev1.Service, family discoveryv1.AddressType, ports []discoveryv1.EndpointPort, endpoints []discoveryv1.Endpoint,
) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{GenerateName: prefix(s.Name), Namespace: s.Namespace, Labels: labelsOf(s),
			OwnerReferences: []metav1.OwnerReference{workload.ControllerRef(s)}},
		AddressType: family, Ports: ports, Endpoints: endpoints,
	}
}

// labelsOf returns the service's labels and those that identify its slices (setEndpointSliceLabels).
func labelsOf(s *corev1.Service) map[string]string {
	own := map[string]string{discoveryv1.LabelServiceName: s.Name, discoveryv1.LabelManagedBy: manager}
	out := labels.Merge(s.Labels, own)
	delete(out, corev1.IsHeadlessService)
	if headless(s) {
		out[corev1.IsHeadlessService] = ""
	}
	return out
}

// renewed returns a slice with the new endpoints; ok is false if nothing changes.
func renewed(
	s *corev1.Service, e *discoveryv1.EndpointSlice, endpoints []discoveryv1.Endpoint,
) (next *discoveryv1.EndpointSlice, ok bool) {
	next = e.DeepCopy()
	next.Labels, next.Endpoints = labelsOf(s), endpoints
	return next, !equality.Semantic.DeepEqual(e, next)
}

// shown returns the pods in the slices, with their readiness.
func shown(list []*discoveryv1.EndpointSlice) map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, s := range list {
		for _, e := range s.Endpoints {
			if e.TargetRef != nil {
				out[e.TargetRef.UID] = ptr.Deref(e.Conditions.Serving, false)
			}
		}
	}
	return out
}

// changed returns the earliest transition of the pods that are new, or whose readiness differs; zero if there is none
// (k8s.io/endpointslice/util: TriggerTimeTracker).
func changed(pods []*corev1.Pod, had, has map[types.UID]bool) (at time.Time) {
	for _, p := range pods {
		was, known := had[p.UID]
		is, ok := has[p.UID]
		since, _ := workload.Ready(p)
		if ok && (!known || was != is) && !since.IsZero() && (at.IsZero() || since.Before(at)) {
			at = since
		}
	}
	return at
}

// trigger sets the annotation with the time of the change that causes a write; it removes it if the time is zero.
func trigger(m *metav1.ObjectMeta, at time.Time) {
	if at.IsZero() {
		delete(m.Annotations, corev1.EndpointsLastChangeTriggerTime)
	} else {
		metav1.SetMetaDataAnnotation(m, corev1.EndpointsLastChangeTriggerTime, at.UTC().Format(time.RFC3339Nano))
	}
}
