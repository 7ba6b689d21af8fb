package devicetaint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// period is the shortest time between two statuses of a rule with the same spec (ruleStatusPeriod).
const period = 10 * time.Second

// counting returns the rules that evict, after a change that may affect their counts.
func counting(r workload.Reader, e workload.Change) []workload.Key {
	switch e.Resource {
	case workload.TaintRules: // the rule itself has a pass
		return nil
	case workload.Pods:
		if len(r.All(workload.ResourceClaims, cmp.Or(e.New, e.Old).Namespace)) == 0 {
			return nil
		}
	}
	return workload.KeysOf(evicting(r), func(*resourcev1.DeviceTaintRule) bool { return true })
}

// decideRule writes the status of a rule (maybeUpdateRuleStatus).
func (m *memory) decideRule(v workload.View, now time.Time) (plan workload.Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rule, _ := v.Object.(*resourcev1.DeviceTaintRule)
	if rule == nil {
		rules := workload.All[*resourcev1.DeviceTaintRule](v, "")
		maps.DeleteFunc(m.rules, func(uid types.UID, _ known) bool {
			return !slices.ContainsFunc(rules, func(r *resourcev1.DeviceTaintRule) bool { return r.UID == uid })
		})
		return plan
	}
	k := m.rules[rule.UID]
	at := slices.IndexFunc(rule.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == resourcev1.DeviceTaintConditionEvictionInProgress
	})
	var old metav1.Condition
	if at >= 0 {
		old = rule.Status.Conditions[at]
	}
	if at >= 0 && old.ObservedGeneration == rule.Generation {
		if rule.Spec.Taint.Effect != resourcev1.DeviceTaintEffectNoExecute {
			return plan
		}
		last := old.LastTransitionTime.Time
		if k.counted.After(last) {
			last = k.counted
		}
		if wait := last.Add(period).Sub(now); wait > 0 {
			plan.Again = wait
			return plan
		}
	}
	for _, s := range m.scheduled {
		if s.begun && slices.Contains(s.rules, rule.UID) { // a deletion that is not counted yet
			plan.Again = period
		}
	}
	c := condition(v, rule, k.evicted)
	c.LastTransitionTime = old.LastTransitionTime
	if c == old {
		k.counted = now
		m.rules[rule.UID] = k
		return plan
	}
	c.LastTransitionTime = metav1.NewTime(now)
	next := rule.DeepCopy()
	if at < 0 {
		next.Status.Conditions = append(next.Status.Conditions, c)
	} else {
		next.Status.Conditions[at] = c
	}
	plan.Status = next
	return plan
}

// condition returns the condition of a rule's status about its evictions; gone is the number of evicted pods.
func condition(r workload.Reader, rule *resourcev1.DeviceTaintRule, gone int) metav1.Condition {
	c := metav1.Condition{Type: resourcev1.DeviceTaintConditionEvictionInProgress, Status: metav1.ConditionFalse,
		ObservedGeneration: rule.Generation}
	switch rule.Spec.Taint.Effect {
	case resourcev1.DeviceTaintEffectNoExecute:
		pods, namespaces := taintsOf(r, evicting(r)).pending(rule)
		switch {
		case pods > 0:
			c.Status, c.Reason = metav1.ConditionTrue, "PodsPendingEviction"
			c.Message = plural(pods, "pod needs", "pods need") + " to be evicted in " +
				plural(namespaces, "namespace", "different namespaces") + "."
		case gone > 0:
			c.Reason = "Completed"
		default:
			c.Reason = "NotStarted"
		}
	case resourcev1.DeviceTaintEffectNone:
		c.Reason, c.Message = "NoEffect", forecast(r, rule)
	default:
		c.Reason, c.Message = "OtherEffect", "Eviction only happens for the NoExecute effect."
	}
	if gone > 0 {
		if c.Message != "" {
			c.Message += " "
		}
		c.Message += plural(gone, "pod", "pods") + " evicted since starting the controller."
	}
	return c
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// forecast describes the evictions that a rule without effect would cause with the effect NoExecute.
func forecast(r workload.Reader, rule *resourcev1.DeviceTaintRule) string {
	effective := rule.DeepCopy()
	effective.Spec.Taint.Effect = resourcev1.DeviceTaintEffectNoExecute
	t := taintsOf(r, append(evicting(r), effective))
	published, allocated := t.devices(rule)
	pods, namespaces := t.pending(rule)
	return plural(published, "published device", "published devices") + " selected. " +
		plural(allocated, "allocated device", "allocated devices") + " selected. " +
		plural(pods, "pod", "pods") + " would be evicted in " +
		plural(namespaces, "namespace", "different namespaces") + " if the effect was NoExecute. " +
		"This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."
}

// devices counts the devices of slices and of claims that a rule selects (countTaintedDevices).
func (t taints) devices(rule *resourcev1.DeviceTaintRule) (published, allocated int) {
	for p, all := range t.pools {
		for _, s := range all {
			for _, d := range s.Spec.Devices {
				if selects(rule, p.driver, p.name, d.Name) {
					published++
				}
			}
		}
	}
	for _, c := range workload.All[*resourcev1.ResourceClaim](t, "") {
		if c.Status.Allocation == nil {
			continue
		}
		for _, d := range c.Status.Allocation.Devices.Results {
			if selects(rule, d.Driver, d.Pool, d.Device) {
				allocated++
			}
		}
	}
	return published, allocated
}

// pending counts the pods that are to be evicted because of a rule, and their namespaces (countPendingPods).
func (t taints) pending(rule *resourcev1.DeviceTaintRule) (pods, namespaces int) {
	seen, in := map[workload.Key]bool{}, map[string]bool{}
	for _, key := range consumers(workload.All[*resourcev1.ResourceClaim](t, "")) {
		if seen[key] {
			continue
		}
		seen[key] = true
		p := workload.Get[*corev1.Pod](t, key.Namespace, key.Name)
		if p == nil || p.DeletionTimestamp != nil {
			continue
		}
		if e, ok := t.evictionOf(p); ok && slices.Contains(e.rules, rule.UID) {
			pods++
			in[key.Namespace] = true
		}
	}
	return pods, len(in)
}
