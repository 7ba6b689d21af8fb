package autoscale

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// input is the input of a decision.
type input struct {
	hpa *autoscalingv2.HorizontalPodAutoscaler
	// scale is the scale of the target; if there is none, err is the reason.
	scale *autoscalingv1.Scale
	err   error
	// pods has the pods of the namespace, from which the selector of the scale selects.
	pods   []*corev1.Pod
	rivals []rival
	// readings are those of the metrics, in the order of the spec; nil if the decision does not depend on metrics.
	readings []reading
}

// rival is another autoscaler of the namespace, with the selector of its target.
type rival struct {
	key      workload.Key
	selector labels.Selector
}

// memory is the record of an autoscaler between passes.
type memory struct {
	uid types.UID
	// spec is the spec in the last pass, and at the time of that pass.
	spec *autoscalingv2.HorizontalPodAutoscalerSpec
	at   time.Time
	// selector is the selector of the target; nil if it was not known.
	selector labels.Selector
	// recommendations has the sizes before stabilization. up and down have the changes of size, as positive numbers.
	recommendations, up, down []amount
}

// amount is a number of replicas at a time.
type amount struct {
	replicas int32
	at       time.Time
}

// wait returns the time until the next pass is due, 0 if it is now.
func (m memory) wait(a *autoscalingv2.HorizontalPodAutoscaler, now time.Time, period time.Duration) time.Duration {
	if m.spec == nil || now.Before(m.at) || !equality.Semantic.DeepEqual(*m.spec, a.Spec) {
		return 0
	}
	return max(0, m.at.Add(period).Sub(now))
}

// decision is a decision, with the status and the events so far.
type decision struct {
	Options
	// input has, after selectPods, only the pods that the selector selects.
	input
	now    time.Time
	status autoscalingv2.HorizontalPodAutoscalerStatus
	events []workload.Event
	memory memory
	// old is the present size of the target.
	old     int32
	metrics []autoscalingv2.MetricStatus
	// rescale reports whether the target gets the size replicas, for a reason; rescaled then completes the decision.
	rescale  bool
	replicas int32
	reason   string
	// toZero reports whether the controller scales up again after a rescale to zero.
	toZero bool
}

// decide decides about an autoscaler (reconcileAutoscaler).
func decide(o Options, in input, m memory, now time.Time) *decision {
	m.uid, m.spec, m.at = in.hpa.UID, &in.hpa.Spec, now
	d := &decision{Options: o, input: in, status: *in.hpa.Status.DeepCopy(), memory: m, now: now}
	if g := in.hpa.Generation; g != 0 { // V-011
		d.status.ObservedGeneration = &g
	}
	if in.err != nil {
		d.warn("FailedGetScale", in.err.Error())
		d.condition(autoscalingv2.AbleToScale, false, "FailedGetScale",
			fmt.Sprintf("the HPA controller was unable to get the target's current scale: %v", in.err))
		return d
	}
	d.condition(autoscalingv2.AbleToScale, true, "SucceededGetScale",
		"the HPA controller was able to get the target's current scale")
	d.old = in.scale.Spec.Replicas
	d.toZero = d.old > 0 && in.least() == 0 && zeroable(in.hpa)
	if d.memory.recommendations == nil {
		d.memory.recommendations = []amount{{d.old, now}}
	}
	if d.size() && !d.rescale {
		d.setStatus(d.old, false)
	}
	return d
}

// least returns the minimum number of replicas.
func (in input) least() int32 {
	if n := in.hpa.Spec.MinReplicas; n != nil {
		return *n
	}
	return 1
}

const (
	disabled     = "scaling is disabled since the replica count of the target is zero"
	belowMinimum = "Current number of replicas below Spec.MinReplicas"
)

// unmeasured returns the reason why the size does not depend on metrics, or "" if it does.
func (in input) unmeasured(neverToZero bool) string {
	switch n := in.scale.Spec.Replicas; {
	case n == 0 && (neverToZero || !in.wakes()):
		return disabled
	case n > in.hpa.Spec.MaxReplicas:
		return "Current number of replicas above Spec.MaxReplicas"
	case n < in.least() && n > 0:
		return belowMinimum
	}
	return ""
}

// size decides on the size of the target. ok is false if that failed; the status then has the reason.
func (d *decision) size() (ok bool) {
	switch reason := d.unmeasured(d.NeverToZero); reason {
	case "":
		n, metric, err := d.recommend()
		if err != nil {
			d.setStatus(d.status.DesiredReplicas, false)
			d.warn("FailedComputeMetricsReplicas", err.Error())
			return false
		}
		switch {
		case n > d.old:
			d.reason = metric + " above target"
		case n < d.old:
			d.reason = "All metrics below target"
		}
		d.replicas = d.limited(max(n, 0))
		if least := d.least(); d.old == 0 && d.replicas < least {
			d.replicas, d.reason = least, cmp.Or(d.reason, belowMinimum)
		}
		d.rescale = d.replicas != d.old
	case disabled:
		d.condition(autoscalingv2.ScalingActive, false, "ScalingDisabled", reason)
	default:
		d.rescale, d.replicas, d.reason = true, min(max(d.old, d.least()), d.hpa.Spec.MaxReplicas), reason
	}
	return true
}

// wakes reports whether a target without replicas gets a decision: the controller itself scaled it to zero, and either
// the minimum is above zero now, or a metric does not need pods (shouldComputeMetricsForZeroReplicas).
func (in input) wakes() bool {
	held := slices.ContainsFunc(in.hpa.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
		return c.Type == autoscalingv2.ScaledToZero && c.Status == corev1.ConditionTrue
	})
	return held && (in.least() != 0 || zeroable(in.hpa))
}

// zeroable reports whether one of the metrics does not need pods (hasObjectOrExternalMetrics).
func zeroable(a *autoscalingv2.HorizontalPodAutoscaler) bool {
	return slices.ContainsFunc(a.Spec.Metrics, func(m autoscalingv2.MetricSpec) bool {
		return m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	})
}

// recommend returns the largest size that a metric proposes, and that metric's name (computeReplicasForMetrics). Failed
// metrics count only if all fail, or if the others would scale down.
func (d *decision) recommend() (n int32, metric string, err error) {
	if err := d.selectPods(); err != nil {
		return 0, "", err
	}
	specs := d.hpa.Spec.Metrics
	d.metrics = make([]autoscalingv2.MetricStatus, len(specs))
	n = -1
	failures, first := 0, proposal{}
	for i, spec := range specs {
		p := d.propose(spec, d.readings[i])
		switch {
		case p.err != nil:
			if failures == 0 {
				first = p
			}
			failures++
		default:
			d.metrics[i] = p.status
			if p.replicas > n {
				n, metric = p.replicas, p.name
			}
		}
	}
	if failures >= len(specs) || failures > 0 && n < d.old {
		d.condition(autoscalingv2.ScalingActive, false, first.reason,
			fmt.Sprintf("the HPA was unable to compute the replica count: %v", first.cause))
		return 0, "", fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w", failures, len(specs),
			first.err)
	}
	d.condition(autoscalingv2.ScalingActive, true, "ValidMetricFound",
		"the HPA was able to successfully calculate a replica count from "+metric)
	return n, metric, nil
}

// selectPods selects the pods of the target, which no other autoscaler may scale (validateAndParseSelector).
func (d *decision) selectPods() error {
	d.memory.selector = nil
	s, err := d.selector()
	switch {
	case err != nil:
		message := fmt.Sprintf("couldn't convert selector into a corresponding internal selector object: %v", err)
		return d.unselected("InvalidSelector", "InvalidSelector", message, message)
	case s == nil:
		return d.unselected("SelectorRequired", "InvalidSelector", "selector is required",
			"the HPA target's scale is missing a selector")
	}
	d.memory.selector = s
	d.pods = slices.DeleteFunc(slices.Clone(d.pods), func(p *corev1.Pod) bool {
		return !s.Matches(labels.Set(p.Labels))
	})
	if len(d.pods) == 0 {
		return nil
	}
	scalers := []string{named(workload.KeyOf(d.hpa))}
	for _, r := range d.rivals {
		if slices.ContainsFunc(d.pods, func(p *corev1.Pod) bool { return r.selector.Matches(labels.Set(p.Labels)) }) {
			scalers = append(scalers, named(r.key))
		}
	}
	if len(scalers) > 1 {
		slices.Sort(scalers)
		message := fmt.Sprintf("pods by selector %v are controlled by multiple HPAs: [%s]", d.scale.Status.Selector,
			strings.Join(scalers, " "))
		return d.unselected("AmbiguousSelector", "AmbiguousSelector", message, message)
	}
	return nil
}

// selector returns the selector of the target's pods, or nil if the scale has none.
func (in input) selector() (labels.Selector, error) {
	if in.scale.Status.Selector == "" {
		return nil, nil
	}
	return labels.Parse(in.scale.Status.Selector)
}

// named returns the name of an autoscaler for a message.
func named(k workload.Key) string { return "{" + k.Name + " " + k.Namespace + "}" }

// unselected returns the reason why the pods of the target can't be selected.
func (d *decision) unselected(event, reason, problem, message string) error {
	d.warn(event, problem)
	d.condition(autoscalingv2.ScalingActive, false, reason, message)
	return fmt.Errorf("%s", problem)
}

// rescaled completes a decision with the result of the rescale.
func (d *decision) rescaled(err error) {
	if err != nil {
		d.warn("FailedRescale", fmt.Sprintf("New size: %d; reason: %s; error: %v", d.replicas, d.reason, err))
		d.condition(autoscalingv2.AbleToScale, false, "FailedUpdateScale",
			fmt.Sprintf("the HPA controller was unable to update the target scale: %v", err))
		d.setStatus(d.status.DesiredReplicas, false)
		return
	}
	d.condition(autoscalingv2.AbleToScale, true, "SucceededRescale",
		fmt.Sprintf("the HPA controller was able to update the target scale to %d", d.replicas))
	switch { // V-088
	case d.NeverToZero:
	case d.toZero && d.replicas == 0:
		d.condition(autoscalingv2.ScaledToZero, true, "ScaledToZero", "the HPA controller scaled the workload to zero")
	default:
		d.condition(autoscalingv2.ScaledToZero, false, "NotScaledToZero",
			"the HPA controller did not scale the workload to zero")
	}
	d.events = append(d.events, workload.Normal("SuccessfulRescale",
		fmt.Sprintf("New size: %d; reason: %s", d.replicas, d.reason)))
	d.memory.changed(d.hpa.Spec.Behavior, d.old, d.replicas, d.now)
	d.setStatus(d.replicas, true)
}

// setStatus sets the numbers of the status.
func (d *decision) setStatus(desired int32, rescaled bool) {
	d.status.CurrentReplicas, d.status.DesiredReplicas, d.status.CurrentMetrics = d.old, desired, d.metrics
	if rescaled {
		d.status.LastScaleTime = new(metav1.NewTime(d.now))
	}
}

// warn records an event.
func (d *decision) warn(reason, message string) {
	d.events = append(d.events, workload.Warning(reason, message))
}

// condition sets a condition. Its time changes with its status (setConditionInList).
func (d *decision) condition(t autoscalingv2.HorizontalPodAutoscalerConditionType, is bool, reason, message string) {
	c := autoscalingv2.HorizontalPodAutoscalerCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason,
		Message: message, LastTransitionTime: metav1.NewTime(d.now)}
	if is {
		c.Status = corev1.ConditionTrue
	}
	for i, had := range d.status.Conditions {
		if had.Type == t {
			if had.Status == c.Status {
				c.LastTransitionTime = had.LastTransitionTime
			}
			d.status.Conditions[i] = c
			return
		}
	}
	d.status.Conditions = append(d.status.Conditions, c)
}
