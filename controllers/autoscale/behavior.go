package autoscale

import (
	"math"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
)

// Without behavior a target may double, or grow to 4 (calculateScaleUpLimit).
const (
	growthFactor  = 2
	growthMinimum = 4
)

// why is the reason and the message of a condition.
type why struct{ reason, message string }

var (
	tooFew   = why{"TooFewReplicas", "the desired replica count is less than the minimum replica count"}
	tooMany  = why{"TooManyReplicas", "the desired replica count is more than the maximum replica count"}
	upRate   = why{"ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"}
	downRate = why{"ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"}
	inRange  = why{"DesiredWithinRange", "the desired count is within the acceptable range"}
	upStable = why{"ScaleUpStabilized",
		"recent recommendations were lower than current one, applying the lowest recent recommendation"}
	downStable = why{"ScaleDownStabilized",
		"recent recommendations were higher than current one, applying the highest recent recommendation"}
	ready = why{"ReadyForNewScale", "recommended size matches current size"}
)

// limited returns a recommended size after stabilization and within its limits, and sets the conditions
// (normalizeDesiredReplicas, normalizeDesiredReplicasWithBehaviors).
func (d *decision) limited(n int32) int32 {
	stable, because := d.stabilized(n)
	if stable == n {
		because = ready
	}
	d.condition(autoscalingv2.AbleToScale, true, because.reason, because.message)
	out, because := d.bounded(stable)
	d.condition(autoscalingv2.ScalingLimited, out != stable, because.reason, because.message)
	return out
}

// rules returns the rules of a direction; nil without behavior. Defaulting sets both.
func (d *decision) rules(up bool) *autoscalingv2.HPAScalingRules {
	switch b := d.hpa.Spec.Behavior; {
	case b == nil:
		return nil
	case up && b.ScaleUp != nil:
		return b.ScaleUp
	case !up && b.ScaleDown != nil:
		return b.ScaleDown
	}
	return &autoscalingv2.HPAScalingRules{}
}

// windows returns the stabilization windows.
func (d *decision) windows() (up, down time.Duration) {
	down = d.DownscaleStabilization
	if r := d.rules(true); r != nil && r.StabilizationWindowSeconds != nil {
		up = time.Duration(*r.StabilizationWindowSeconds) * time.Second
	}
	if r := d.rules(false); r != nil && r.StabilizationWindowSeconds != nil {
		down = time.Duration(*r.StabilizationWindowSeconds) * time.Second
	}
	return up, down
}

// stabilized returns the safest of the recent recommendations, and records the present one (stabilizeRecommendation,
// stabilizeRecommendationWithBehaviors). Without behavior only growth is unlimited, and a recommendation as old as the
// window still counts.
func (d *decision) stabilized(n int32) (stable int32, because why) {
	up, down := d.windows()
	behavior := d.hpa.Spec.Behavior
	lowest, highest := n, n
	for _, r := range d.memory.recommendations {
		age := d.now.Sub(r.at)
		if behavior != nil && age < up {
			lowest = min(lowest, r.replicas)
		}
		if age < down || behavior == nil && age == down {
			highest = max(highest, r.replicas)
		}
	}
	d.memory.recommendations = append(recent(d.memory.recommendations, d.now, max(up, down)), amount{n, d.now})
	if behavior == nil {
		return highest, downStable
	}
	stable = min(max(d.old, lowest), highest)
	if n >= d.old {
		return stable, upStable
	}
	return stable, downStable
}

// recent returns a new list of the amounts that are not older than a window.
func recent(list []amount, now time.Time, window time.Duration) []amount {
	return slices.DeleteFunc(slices.Clone(list), func(a amount) bool { return now.Sub(a.at) > window })
}

// bounded returns a size within the limits (convertDesiredReplicasWithRules, convertDesiredReplicasWithBehaviorRate).
func (d *decision) bounded(n int32) (int32, why) {
	least, most, because := d.least(), d.hpa.Spec.MaxReplicas, tooMany
	if d.hpa.Spec.Behavior == nil {
		limit := int32(min(math.MaxInt32, max(growthFactor*int64(d.old), growthMinimum)))
		if most > limit {
			most, because = limit, upRate
		}
		switch {
		case n < least:
			return least, tooFew
		case n > most:
			return most, because
		}
		return n, inRange
	}
	switch {
	case n > d.old:
		if limit := max(d.ceiling(), d.old); most > limit {
			most, because = limit, upRate
		}
		if n > most {
			return most, because
		}
	case n < d.old:
		because = tooFew
		if limit := min(d.floor(), d.old); least < limit {
			least, because = limit, downRate
		}
		if n < least {
			return least, because
		}
	}
	return n, inRange
}

// ceiling returns the largest size that the policies of growth allow (calculateScaleUpLimitWithScalingRules).
func (d *decision) ceiling() int32 {
	return d.limit(d.rules(true), func(start int64, p autoscalingv2.HPAScalingPolicy) int64 {
		if p.Type == autoscalingv2.PodsScalingPolicy {
			return start + int64(p.Value)
		}
		return int64(math.Ceil(float64(start) * (1 + float64(p.Value)/100)))
	}, slices.Max[[]int64], slices.Min[[]int64])
}

// floor returns the smallest size that the policies of shrinking allow (calculateScaleDownLimitWithBehaviors).
func (d *decision) floor() int32 {
	return d.limit(d.rules(false), func(start int64, p autoscalingv2.HPAScalingPolicy) int64 {
		if p.Type == autoscalingv2.PodsScalingPolicy {
			return start - int64(p.Value)
		}
		return int64(float64(start) * (1 - float64(p.Value)/100))
	}, slices.Min[[]int64], slices.Max[[]int64])
}

// limit returns the limit of the selected policy: most selects the largest change, least the smallest.
func (d *decision) limit(r *autoscalingv2.HPAScalingRules, of func(start int64, p autoscalingv2.HPAScalingPolicy) int64,
	most, least func([]int64) int64) int32 {
	if len(r.Policies) == 0 || selected(r) == autoscalingv2.DisabledPolicySelect {
		return d.old
	}
	var limits []int64
	for _, p := range r.Policies {
		limits = append(limits, of(int64(d.begun(p)), p))
	}
	if selected(r) == autoscalingv2.MinChangePolicySelect {
		most = least
	}
	return int32(max(math.MinInt32, min(math.MaxInt32, most(limits))))
}

// selected returns the value of selectPolicy, with its default.
func selected(r *autoscalingv2.HPAScalingRules) autoscalingv2.ScalingPolicySelect {
	return ptr.Deref(r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
}

// begun returns the size at the beginning of a policy's period.
func (d *decision) begun(p autoscalingv2.HPAScalingPolicy) int32 {
	period := time.Duration(p.PeriodSeconds) * time.Second
	return d.old - within(d.memory.up, d.now, period) + within(d.memory.down, d.now, period)
}

// within adds up the changes of a period (getReplicasChangePerPeriod).
func within(changes []amount, now time.Time, period time.Duration) (sum int32) {
	for _, c := range changes {
		if now.Sub(c.at) < period {
			sum += c.replicas
		}
	}
	return sum
}

// changed records a change of size, for policies (storeScaleEvent).
func (m *memory) changed(b *autoscalingv2.HorizontalPodAutoscalerBehavior, old, replicas int32, now time.Time) {
	if b == nil {
		return
	}
	longest := time.Duration(0)
	for _, r := range []*autoscalingv2.HPAScalingRules{b.ScaleUp, b.ScaleDown} {
		if r == nil {
			continue
		}
		for _, p := range r.Policies {
			longest = max(longest, time.Duration(p.PeriodSeconds)*time.Second)
		}
	}
	m.up, m.down = recent(m.up, now, longest), recent(m.down, now, longest)
	if replicas > old {
		m.up = append(m.up, amount{replicas - old, now})
	} else {
		m.down = append(m.down, amount{old - replicas, now})
	}
}
