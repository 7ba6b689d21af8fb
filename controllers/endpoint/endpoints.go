package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

const (
	// mostAddresses is the maximum number of addresses of Endpoints (K pkg/controller/endpoint: maxCapacity).
	mostAddresses = 1000
	managedBy     = "endpoints.kubernetes.io/managed-by"
	leaderKey     = "control-plane.alpha.kubernetes.io/leader"
)

// leftover deletes the Endpoints of a service that is gone, unless they are a leader election lock.
func leftover(v workload.View) (p workload.Plan) {
	e := workload.Get[*corev1.Endpoints](v, v.Key.Namespace, v.Key.Name)
	if e != nil && e.DeletionTimestamp == nil && e.Annotations[leaderKey] == "" {
		p.Do = append(p.Do, workload.Delete{Object: e})
	}
	return p
}

// endpoints plans the Endpoints of a service (syncService).
func endpoints(v workload.Reader, s *corev1.Service) (p workload.Plan) {
	had := workload.Get[*corev1.Endpoints](v, s.Namespace, s.Name)
	next := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}}
	if had != nil {
		next = had.DeepCopy()
	}
	next.Labels = labels.Merge(s.Labels, map[string]string{managedBy: "endpoint-controller"})
	delete(next.Labels, corev1.IsHeadlessService)
	if headless(s) {
		next.Labels[corev1.IsHeadlessService] = ""
	}
	pods := chosen(v, s, s.Spec.PublishNotReadyAddresses)
	subsets, truncated := truncate(subsetsOf(s, pods))
	next.Subsets = subsets
	if truncated {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, corev1.EndpointsOverCapacity, "truncated")
	} else if next.Annotations[corev1.EndpointsOverCapacity] != "" {
		delete(next.Annotations, corev1.EndpointsOverCapacity)
	}
	if had != nil && equality.Semantic.DeepEqual(had, next) {
		return p
	}
	if had == nil {
		trigger(&next.ObjectMeta, s.CreationTimestamp.Time)
		p.Do = append(p.Do, workload.Create{Object: next, Failed: workload.Warning("FailedToCreateEndpoint",
			fmt.Sprintf("Failed to create endpoint for service %s/%s: %s", s.Namespace, s.Name, workload.Problem))})
	} else {
		trigger(&next.ObjectMeta, changed(pods, published(had), published(next)))
		p.Do = append(p.Do, workload.Update{Object: next, Failed: workload.Warning("FailedToUpdateEndpoint",
			fmt.Sprintf("Failed to update endpoint %s/%s: %s", s.Namespace, s.Name, workload.Problem))})
	}
	return p
}

// published returns the pods in the Endpoints, with their readiness.
func published(e *corev1.Endpoints) map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, s := range e.Subsets {
		for i, a := range slices.Concat(s.Addresses, s.NotReadyAddresses) {
			if a.TargetRef != nil {
				out[a.TargetRef.UID] = i < len(s.Addresses)
			}
		}
	}
	return out
}

// place is a pod's address, and whether it is ready.
type place struct {
	corev1.EndpointAddress
	ready bool
}

// subsetsOf groups ports with the same pods (endpoints.RepackSubsets).
func subsetsOf(s *corev1.Service, pods []*corev1.Pod) (out []corev1.EndpointSubset) {
	byPort := map[corev1.EndpointPort][]place{}
	bare := []place{}
	for _, p := range pods {
		at := placeOf(s, p)
		if at.IP == "" {
			continue
		}
		if len(s.Spec.Ports) == 0 && s.Spec.ClusterIP == corev1.ClusterIPNone {
			bare = append(bare, at)
		}
		for _, port := range s.Spec.Ports {
			if n, ok := target(p, port); ok {
				k := corev1.EndpointPort{Name: port.Name, Port: n, Protocol: port.Protocol, AppProtocol: port.AppProtocol}
				byPort[k] = append(byPort[k], at)
			}
		}
	}
	if len(bare) > 0 {
		return []corev1.EndpointSubset{subset(bare, nil)}
	}
	byPlaces := map[string]int{}
	for _, port := range slices.SortedFunc(maps.Keys(byPort), comparePorts) {
		key := ""
		for _, at := range byPort[port] {
			key += fmt.Sprintf("%s %s %v\n", at.IP, at.TargetRef.UID, at.ready)
		}
		if i, ok := byPlaces[key]; ok {
			out[i].Ports = append(out[i].Ports, port)
			continue
		}
		byPlaces[key] = len(out)
		out = append(out, subset(byPort[port], []corev1.EndpointPort{port}))
	}
	return out
}

func comparePorts(a, b corev1.EndpointPort) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol))
}

// placeOf returns the pod's address in the service's family.
func placeOf(s *corev1.Service, p *corev1.Pod) place {
	at := addresses(p, families(s)[0])
	if len(at) == 0 {
		return place{}
	}
	e := place{ready: workload.IsReady(p) || s.Spec.PublishNotReadyAddresses}
	e.IP, e.NodeName, e.TargetRef = at[0], pointer(p.Spec.NodeName), reference(p)
	if named(p, s) {
		e.Hostname = p.Spec.Hostname
	}
	return e
}

func subset(places []place, ports []corev1.EndpointPort) (out corev1.EndpointSubset) {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.IP, b.IP), cmp.Compare(a.TargetRef.UID, b.TargetRef.UID))
	})
	for _, p := range places {
		if p.ready {
			out.Addresses = append(out.Addresses, p.EndpointAddress)
		} else {
			out.NotReadyAddresses = append(out.NotReadyAddresses, p.EndpointAddress)
		}
	}
	out.Ports = ports
	return out
}

// truncate keeps the maximum number of addresses, ready ones first.
func truncate(subsets []corev1.EndpointSubset) (out []corev1.EndpointSubset, truncated bool) {
	left := mostAddresses
	cut := func(list []corev1.EndpointAddress) []corev1.EndpointAddress {
		n := min(left, len(list))
		truncated, left = truncated || n < len(list), left-n
		return list[:n:n]
	}
	for i := range subsets {
		subsets[i].Addresses = cut(subsets[i].Addresses)
	}
	for i := range subsets {
		subsets[i].NotReadyAddresses = cut(subsets[i].NotReadyAddresses)
	}
	return subsets, truncated
}
