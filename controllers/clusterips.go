package controllers

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// repairController is upstream's name for the controller of IPAddresses, and allocator is the value of the label of its
// own IPAddresses (K pkg/registry/core/service/ipallocator/ipallocator.go: ControllerName).
const (
	repairController = "ipallocator-repair-controller"
	allocator        = "ipallocator.k8s.io"
)

// clusterIPs maintains an IPAddress for each cluster IP of a Service (K
// pkg/registry/core/service/ipallocator/controller/repairip.go: syncService). A wrong one is deleted, and the following
// pass creates it.
//
// Upstream's allocator creates the IPAddress before the Service is stored, and deletes it before the response to the
// deletion; the controller only repairs. Here the write of a Service checks the stored Services and the IPAddresses of
// others, so each IPAddress is created and deleted a moment after its Service.
func clusterIPs() workload.Controller {
	return workload.Controller{
		Name: repairController, For: workload.Services, Task: "record the cluster IPs of a service",
		Sees: []workload.Resource{workload.IPAddresses, workload.ServiceCIDRs},
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			created := c.Old == nil
			if c.Resource == workload.Services || created != (c.Resource == workload.ServiceCIDRs) {
				return nil
			}
			return workload.KeysOf(workload.All[*corev1.Service](r, ""), func(s *corev1.Service) bool {
				return created || hasClusterIP(s, c.Old.Name)
			})
		},
		Decide: workload.Present(func(v workload.View, s *corev1.Service, _ time.Time) (plan workload.Plan) {
			for _, ip := range clusterIPsOf(s) {
				plan = recordClusterIP(v, s, ip, plan)
			}
			return plan
		}),
	}
}

// recordClusterIP adds the actions for one cluster IP of the service to the plan.
func recordClusterIP(v workload.View, s *corev1.Service, ip netip.Addr, plan workload.Plan) workload.Plan {
	text := fmt.Sprintf("[%v]: %v", familyOf(ip), ip)
	if !slices.ContainsFunc(workload.All[*networkingv1.ServiceCIDR](v, ""), inRange(ip)) {
		plan.Events = append(plan.Events, workload.Warning("ClusterIPOutOfRange",
			"Cluster IP "+text+" is not within any configured Service CIDR; please recreate service"))
		return plan
	}
	have, want := workload.Get[*networkingv1.IPAddress](v, "", ip.String()), addressOf(s, ip)
	if have == nil {
		plan.Err = cmp.Or(plan.Err, v.Err(workload.IPAddresses, "", want.Name))
		plan.Do = append(plan.Do, workload.Create{Object: want})
		return plan
	}
	switch ref := have.Spec.ParentRef; {
	case ref != nil && *ref != *want.Spec.ParentRef && holds(v, have):
		plan.Events = append(plan.Events, workload.Warning("ClusterIPAlreadyAllocated",
			"Cluster IP "+text+" was assigned to multiple services; please recreate service"))
	case ref == nil || *ref != *want.Spec.ParentRef ||
		have.Labels[networkingv1.LabelManagedBy] != allocator ||
		have.Labels[networkingv1.LabelIPAddressFamily] != string(familyOf(ip)):
		plan.Do = append(plan.Do, workload.Delete{Object: have})
	}
	return plan
}

// leakedAddresses deletes the allocator's IPAddresses that no Service has (K repairip.go: syncIPAddress). Upstream
// waits for 60 seconds before it deletes one, because its Service may be about to be stored.
func leakedAddresses() workload.Controller {
	return workload.Controller{
		Name: repairController, For: workload.IPAddresses, Sees: []workload.Resource{workload.Services},
		Task: "delete an IPAddress that no service has",
		Wake: func(r workload.Reader, c workload.Change) []workload.Key {
			if c.Resource != workload.Services || c.Old == nil {
				return nil
			}
			return workload.KeysOf(workload.All[*networkingv1.IPAddress](r, ""), func(a *networkingv1.IPAddress) bool {
				p := a.Spec.ParentRef
				return p != nil && p.Namespace == c.Old.Namespace && p.Name == c.Old.Name
			})
		},
		Decide: workload.Present(func(v workload.View, a *networkingv1.IPAddress, _ time.Time) (plan workload.Plan) {
			if a.Labels[networkingv1.LabelManagedBy] == allocator && !dying(a) && !holds(v, a) {
				plan.Do = append(plan.Do, workload.Delete{Object: a, Exact: true})
			}
			return plan
		}),
	}
}

// holds reports whether an IPAddress refers to a Service that has this cluster IP, or can't be decoded.
func holds(r workload.Reader, a *networkingv1.IPAddress) bool {
	p := a.Spec.ParentRef
	if p == nil || p.Group != corev1.GroupName || p.Resource != workload.Services.Plural {
		return false
	}
	s := workload.Get[*corev1.Service](r, p.Namespace, p.Name)
	return s != nil && hasClusterIP(s, a.Name) || r.Err(workload.Services, p.Namespace, p.Name) != nil
}

// addressOf returns the IPAddress of a service's cluster IP (K ipallocator.go: createIPAddress).
func addressOf(s *corev1.Service, ip netip.Addr) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Name: ip.String(), Labels: map[string]string{
			networkingv1.LabelIPAddressFamily: string(familyOf(ip)), networkingv1.LabelManagedBy: allocator,
		}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{
			Resource: workload.Services.Plural, Namespace: s.Namespace, Name: s.Name,
		}},
	}
}

func familyOf(ip netip.Addr) corev1.IPFamily {
	if ip.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// clusterIPsOf returns the cluster IPs of a service; none if it is headless or an ExternalName.
func clusterIPsOf(s *corev1.Service) (ips []netip.Addr) {
	for _, text := range s.Spec.ClusterIPs {
		if ip, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(text)); ok && s.Spec.Type != corev1.ServiceTypeExternalName {
			ips = append(ips, ip.Unmap())
		}
	}
	return ips
}

// hasClusterIP reports whether the service has the cluster IP, in canonical form.
func hasClusterIP(s *corev1.Service, ip string) bool {
	return slices.ContainsFunc(clusterIPsOf(s), func(a netip.Addr) bool { return a.String() == ip })
}
