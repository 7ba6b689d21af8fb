package devicetaint

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// eviction is the time at which a pod is to be evicted, with the rules that require it.
type eviction struct {
	at    time.Time
	rules []types.UID
}

// pool identifies the slices of a pool.
type pool struct{ driver, name string }

// taints has the sources of evictions: one state of the store, its slices, and rules.
type taints struct {
	workload.Reader
	// pools has the slices of each pool that have its newest generation.
	pools map[pool][]*resourcev1.ResourceSlice
	rules []*resourcev1.DeviceTaintRule
}

// taintsOf returns the taints of slices and of these rules.
func taintsOf(r workload.Reader, rules []*resourcev1.DeviceTaintRule) taints {
	t := taints{r, map[pool][]*resourcev1.ResourceSlice{}, rules}
	for _, s := range workload.All[*resourcev1.ResourceSlice](r, "") {
		p := pool{s.Spec.Driver, s.Spec.Pool.Name}
		known := t.pools[p]
		if len(known) > 0 {
			switch c := cmp.Compare(s.Spec.Pool.Generation, known[0].Spec.Pool.Generation); {
			case c < 0:
				continue
			case c > 0:
				known = nil
			}
		}
		t.pools[p] = append(known, s)
	}
	return t
}

// evictionOf returns the eviction of a pod; false if nothing requires one (podEvictionTime).
func (t taints) evictionOf(p *corev1.Pod) (e eviction, ok bool) {
	if p.Spec.NodeName == "" {
		return e, false
	}
	for i := range p.Spec.ResourceClaims {
		c := claimOf(t, p, &p.Spec.ResourceClaims[i])
		if c == nil {
			continue
		}
		for _, d := range c.Status.Allocation.Devices.Results {
			for _, f := range t.of(&d) {
				at, requires := requiredBy(&d, f.taint)
				if !requires {
					continue
				}
				if !ok || at.Before(e.at) {
					e.at = at
				}
				ok = true
				if f.rule != "" && !slices.Contains(e.rules, f.rule) {
					e.rules = append(e.rules, f.rule)
				}
			}
		}
	}
	return e, ok
}

// claimOf returns the allocated claim of a pod's reference, if it is reserved for that pod; else nil.
func claimOf(r workload.Reader, p *corev1.Pod, ref *corev1.PodResourceClaim) *resourcev1.ResourceClaim {
	name, own, err := resourceclaim.Name(p, ref)
	if err != nil || name == nil {
		return nil
	}
	c := workload.Get[*resourcev1.ResourceClaim](r, p.Namespace, *name)
	if c == nil || c.Status.Allocation == nil || own && !metav1.IsControlledBy(c, p) ||
		!slices.ContainsFunc(c.Status.ReservedFor, func(by resourcev1.ResourceClaimConsumerReference) bool {
			return by.UID == p.UID
		}) {
		return nil
	}
	return c
}

// found is a NoExecute taint, and the uid of its rule; empty if it is in a slice.
type found struct {
	taint *resourcev1.DeviceTaint
	rule  types.UID
}

// of returns the NoExecute taints of an allocated device (allEvictingDeviceTaints).
func (t taints) of(d *resourcev1.DeviceRequestAllocationResult) (all []found) {
	for _, s := range t.pools[pool{d.Driver, d.Pool}] {
		for i := range s.Spec.Devices {
			if s.Spec.Devices[i].Name != d.Device {
				continue
			}
			for j := range s.Spec.Devices[i].Taints {
				if taint := &s.Spec.Devices[i].Taints[j]; taint.Effect == resourcev1.DeviceTaintEffectNoExecute {
					all = append(all, found{taint: taint})
				}
			}
		}
	}
	for _, rule := range t.rules {
		if selects(rule, d.Driver, d.Pool, d.Device) {
			all = append(all, found{&rule.Spec.Taint, rule.UID})
		}
	}
	return all
}

// selects reports whether a rule is for a device (ruleMatchesDevice). A rule without a selector is for none.
func selects(rule *resourcev1.DeviceTaintRule, driver, pool, device string) bool {
	s := rule.Spec.DeviceSelector
	is := func(want *string, value string) bool { return want == nil || *want == value }
	return s != nil && is(s.Driver, driver) && is(s.Pool, pool) && is(s.Device, device)
}

// requiredBy returns the time at which a taint requires an eviction; false if it is tolerated forever
// (claimEvictionTime). The server sets timeAdded; a taint without one is ignored.
func requiredBy(d *resourcev1.DeviceRequestAllocationResult, t *resourcev1.DeviceTaint) (at time.Time, ok bool) {
	if t.TimeAdded == nil {
		return at, false
	}
	shortest, tolerated := int64(0), false
	for i := range d.Tolerations {
		by := &d.Tolerations[i]
		if by.Effect != resourcev1.DeviceTaintEffectNoExecute || !resourceclaim.ToleratesTaint(*by, *t) {
			continue
		}
		if by.TolerationSeconds == nil {
			return at, false
		}
		if s := max(0, *by.TolerationSeconds); !tolerated || s < shortest {
			shortest, tolerated = s, true
		}
	}
	return t.TimeAdded.Add(time.Duration(shortest) * time.Second), true
}

// evicting returns the rules with the effect NoExecute.
func evicting(r workload.Reader) []*resourcev1.DeviceTaintRule {
	return slices.DeleteFunc(workload.All[*resourcev1.DeviceTaintRule](r, ""), func(d *resourcev1.DeviceTaintRule) bool {
		return d.Spec.Taint.Effect != resourcev1.DeviceTaintEffectNoExecute
	})
}

// consumers returns the pods for which claims are reserved.
func consumers(claims []*resourcev1.ResourceClaim) (keys []workload.Key) {
	for _, c := range claims {
		for _, by := range c.Status.ReservedFor {
			if by.APIGroup == "" && by.Resource == "pods" {
				keys = append(keys, workload.Key{Namespace: c.Namespace, Name: by.Name})
			}
		}
	}
	return keys
}

// ofPool returns the claims that use devices of a pool.
func ofPool(claims []*resourcev1.ResourceClaim, p pool) []*resourcev1.ResourceClaim {
	return slices.DeleteFunc(claims, func(c *resourcev1.ResourceClaim) bool {
		return c.Status.Allocation == nil || !slices.ContainsFunc(c.Status.Allocation.Devices.Results,
			func(d resourcev1.DeviceRequestAllocationResult) bool { return p == pool{d.Driver, d.Pool} })
	})
}
