package autoscale

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/kubecascade/kubecascade/controllers/workload"
	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/component-helpers/resource"
)

// sample is the usage of a pod, in thousandths of a unit.
type sample struct {
	at     time.Time
	window time.Duration
	value  int64
}

// groups has the pods of a target in groups. ready is the number of those that count; samples has their samples, by
// name.
type groups struct {
	ready            int
	unready, missing []string
	samples          map[string]sample
}

// group divides pods by whether their samples count (groupPods). It omits failed pods and those that are being deleted.
func (d *decision) group(samples map[string]sample, name corev1.ResourceName) groups {
	g := groups{samples: maps.Clone(samples)}
	for _, p := range d.pods {
		s, found := samples[p.Name]
		switch {
		case p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed:
			delete(g.samples, p.Name)
		case p.Status.Phase == corev1.PodPending:
			g.unready = append(g.unready, p.Name)
			delete(g.samples, p.Name)
		case !found:
			g.missing = append(g.missing, p.Name)
		case name == corev1.ResourceCPU && !d.counts(p, s):
			g.unready = append(g.unready, p.Name)
			delete(g.samples, p.Name)
		default:
			g.ready++
		}
	}
	return g
}

// counts reports whether the CPU usage of a pod counts: the usage during its start does not.
func (d *decision) counts(p *corev1.Pod, s sample) bool {
	c := workload.PodCondition(p, corev1.PodReady)
	if p.Status.StartTime == nil || c == nil {
		return false
	}
	started, since := p.Status.StartTime.Time, c.LastTransitionTime.Time
	if started.Add(d.CPUInitializationPeriod).After(d.now) {
		return c.Status != corev1.ConditionFalse && !s.at.Before(since.Add(s.window))
	}
	return c.Status != corev1.ConditionFalse || !started.Add(d.InitialReadinessDelay).After(since)
}

// errNoMetrics is returned if no sample counts, errNoPods if the selector of the target selects no pods.
var (
	errNoMetrics = errors.New("did not receive metrics for targeted pods (pods might be unready)")
	errNoPods    = errors.New("no pods returned by selector while calculating replica count")
)

// requests returns the requests of the pods for a resource, or those of one container of each. The pod's own requests
// take precedence over those of its containers (calculateRequests, calculatePodLevelRequests,
// calculatePodRequestsFromContainers).
func (d *decision) requests(name corev1.ResourceName, container string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, p := range d.pods {
		if container == "" && podresource.IsPodLevelRequestsSet(p) {
			q, ok := podresource.PodRequests(p, podresource.PodResourcesOptions{})[name]
			if !ok {
				return nil, fmt.Errorf("missing pod-level request for %s in Pod %s", name, p.Name)
			}
			out[p.Name] = q.MilliValue()
			continue
		}
		sum, found := int64(0), container == ""
		for _, c := range workload.LastingContainers(p) {
			if container != "" && c.Name != container {
				continue
			}
			found = true
			q, ok := c.Resources.Requests[name]
			if !ok {
				return nil, fmt.Errorf("missing request for %s in container %s of Pod %s", name, c.Name, p.Name)
			}
			sum += q.MilliValue()
		}
		if !found {
			return nil, fmt.Errorf("container %s not found in Pod %s", container, p.Name)
		}
		out[p.Name] = sum
	}
	return out, nil
}

// measure compares usage with a target: their ratio, the usage in percent of the requests if the target is a
// percentage, and the average usage of a pod in thousandths.
type measure struct {
	ratio   float64
	percent int32
	average int64
}

// utilization returns a function that measures usage by requests (metrics/utilization.go: GetResourceUtilizationRatio).
func utilization(requests map[string]int64, target int32) func(map[string]sample) (measure, error) {
	return func(samples map[string]sample) (m measure, err error) {
		used, requested, n := int64(0), int64(0), int64(0)
		for name, s := range samples {
			if request, ok := requests[name]; ok {
				used, requested, n = used+s.value, requested+request, n+1
			}
		}
		if requested == 0 {
			return m, errors.New("no metrics returned matched known pods")
		}
		m.percent, m.average = int32(used*100/requested), used/n
		m.ratio = float64(m.percent) / float64(target)
		return m, nil
	}
}

// average returns a function that measures the average usage (GetMetricUsageRatio).
func average(target int64) func(map[string]sample) (measure, error) {
	return func(samples map[string]sample) (m measure, err error) {
		for _, s := range samples {
			m.average += s.value
		}
		m.average /= int64(len(samples))
		m.ratio = float64(m.average) / float64(target)
		return m, nil
	}
}

// sized returns the size for a measure of the pods (GetResourceReplicas, calcPlainMetricReplicas). Pods without
// samples, and unready ones, count so that the change becomes smaller: missing returns the assumed usage of a pod
// without a sample at a ratio; ok is false if it does not count.
func (d *decision) sized(g groups, of func(map[string]sample) (measure, error),
	missing func(pod string, ratio float64) (value int64, ok bool)) (n int32, m measure, err error) {
	if m, err = of(g.samples); err != nil {
		return 0, m, err
	}
	unready := len(g.unready) > 0 && m.ratio > 1
	if !unready && len(g.missing) == 0 {
		if d.tolerated(m.ratio) {
			return d.old, m, nil
		}
		return ceil(m.ratio, g.ready), m, nil
	}
	for _, name := range g.missing {
		if value, ok := missing(name, m.ratio); ok {
			g.samples[name] = sample{value: value}
		}
	}
	if unready {
		for _, name := range g.unready {
			g.samples[name] = sample{}
		}
	}
	next, err := of(g.samples)
	if err != nil {
		return 0, m, err
	}
	if d.tolerated(next.ratio) || m.ratio < 1 && next.ratio > 1 || m.ratio > 1 && next.ratio < 1 {
		return d.old, m, nil
	}
	n = ceil(next.ratio, len(g.samples))
	if next.ratio < 1 && n > d.old || next.ratio > 1 && n < d.old {
		return d.old, m, nil
	}
	return n, m, nil
}

// ceil returns the size for a ratio of usage and target with n pods.
func ceil(ratio float64, n int) int32 {
	return int32(min(math.Ceil(ratio*float64(n)), math.MaxInt32))
}

// tolerated reports whether a ratio is close enough to 1 (tolerancesForHpa; the feature HPAConfigurableTolerance is GA
// in v1.37, V-019).
func (d *decision) tolerated(ratio float64) bool {
	up, down := d.Tolerance, d.Tolerance
	if r := d.rules(true); r != nil && r.Tolerance != nil {
		up = r.Tolerance.AsApproximateFloat64()
	}
	if r := d.rules(false); r != nil && r.Tolerance != nil {
		down = r.Tolerance.AsApproximateFloat64()
	}
	return 1-down <= ratio && ratio <= 1+up
}
