package controllers

import (
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// serviceRanges maintains the finalizer and the condition Ready of ServiceCIDRs (F-16; K
// pkg/controller/servicecidrs/servicecidrs_controller.go). A deleted one stays, and is not ready, while an address in
// it is in no other ServiceCIDR.
//
// Upstream waits for 10 seconds before it removes the finalizer, until all allocators have seen the deletion. Here a
// Service's write fails if a ServiceCIDR has changed since its ranges were read. The Services of the view count, too,
// as their IPAddresses are created later.
func serviceRanges() workload.Controller {
	p := protection{
		finalizer: "networking.k8s.io/service-cidr-finalizer", protects: workload.ServiceCIDRs,
		users: []workload.Resource{workload.Services, workload.IPAddresses}, used: rangeUsed,
	}
	return workload.Controller{
		Name: "service-cidr-controller", For: p.protects, Sees: p.users,
		Task: "update the finalizer or the condition of a ServiceCIDR",
		Wake: func(r workload.Reader, _ workload.Change) []workload.Key {
			return workload.KeysOf(r.All(p.protects, ""), func(o workload.Object) bool { return dying(o) })
		},
		Decide: func(v workload.View, now time.Time) workload.Plan {
			plan := p.decide(v, now)
			c, ok := v.Object.(*networkingv1.ServiceCIDR)
			if !ok || plan.Err != nil || len(plan.Do) > 0 || dying(c) && !slices.Contains(c.Finalizers, p.finalizer) {
				return plan
			}
			return reportReady(c, now)
		},
	}
}

// reportReady writes the condition, unless it is correct already.
func reportReady(c *networkingv1.ServiceCIDR, now time.Time) (plan workload.Plan) {
	ready := metav1.Condition{Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue,
		Message: "Kubernetes Service CIDR is ready", LastTransitionTime: metav1.NewTime(now)}
	if dying(c) {
		ready.Status, ready.Reason = metav1.ConditionFalse, networkingv1.ServiceCIDRReasonTerminating
		ready.Message = "There are still IPAddresses referencing the ServiceCIDR, " +
			"please remove them or create a new ServiceCIDR"
	}
	conditions := c.Status.DeepCopy().Conditions
	if !meta.SetStatusCondition(&conditions, ready) {
		return plan
	}
	next := &networkingv1.ServiceCIDR{ObjectMeta: c.ObjectMeta}
	next.Status.Conditions = []metav1.Condition{*meta.FindStatusCondition(conditions, ready.Type)}
	plan.Do = append(plan.Do, workload.ApplyStatus{Object: next})
	return plan
}

// rangeUsed reports whether an address of a Service, or of the allocator, is only in the ServiceCIDR of the view (K
// canDeleteCIDR).
func rangeUsed(v workload.View) bool {
	others := slices.DeleteFunc(workload.All[*networkingv1.ServiceCIDR](v, ""), func(c *networkingv1.ServiceCIDR) bool {
		return c.Name == v.Key.Name
	})
	var addresses []netip.Addr
	for _, s := range workload.All[*corev1.Service](v, "") {
		addresses = append(addresses, clusterIPsOf(s)...)
	}
	for _, a := range workload.All[*networkingv1.IPAddress](v, "") {
		if ip, err := netip.ParseAddr(a.Name); err == nil && a.Labels[networkingv1.LabelManagedBy] == allocator {
			addresses = append(addresses, ip)
		}
	}
	return slices.ContainsFunc(addresses, func(ip netip.Addr) bool {
		return inRange(ip)(v.Object.(*networkingv1.ServiceCIDR)) && !slices.ContainsFunc(others, inRange(ip))
	})
}

// inRange returns a function that reports whether a ServiceCIDR has the address, unless it is the range's network
// address or broadcast address (K pkg/api/servicecidr/servicecidr.go: PrefixContainsIP).
func inRange(ip netip.Addr) func(*networkingv1.ServiceCIDR) bool {
	return func(c *networkingv1.ServiceCIDR) bool {
		return slices.ContainsFunc(c.Spec.CIDRs, func(cidr string) bool {
			p, err := netip.ParsePrefix(cidr)
			return err == nil && p.Contains(ip) && ip != p.Masked().Addr() && (ip.Is6() || p.Contains(ip.Next()))
		})
	}
}
