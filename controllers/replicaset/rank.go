package replicaset

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// first returns the n pods to delete first. nodes is the number of related pods by node.
func first(pods []*corev1.Pod, nodes map[string]int, n int, now time.Time) []*corev1.Pod {
	if n == 0 {
		return nil
	}
	if n < len(pods) {
		ranks := map[*corev1.Pod]rank{}
		for _, p := range pods {
			ranks[p] = rankOf(p, nodes, now)
		}
		pods = slices.Clone(pods)
		slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return ranks[a].compare(ranks[b]) })
	}
	return pods[:min(n, len(pods))]
}

// rank determines the order of deletion: lower values first, field by field.
type rank struct {
	pod *corev1.Pod
	// assigned reports whether it is assigned to a node.
	assigned, ready bool
	phase           int
	cost            int64
	// alone is the negative number of related pods on the node.
	alone int
	// readyFor and age are orders of magnitude, in powers of two of nanoseconds.
	readyFor int
	// restarts is negative, of containers and of sidecars.
	restarts, sidecars int
	age                int
}

func rankOf(p *corev1.Pod, nodes map[string]int, now time.Time) rank {
	r := rank{pod: p, assigned: p.Spec.NodeName != "", cost: deletionCost(p), alone: -nodes[p.Spec.NodeName],
		age: magnitude(p.CreationTimestamp.Time, now)}
	switch p.Status.Phase {
	case corev1.PodUnknown:
		r.phase = 1
	case corev1.PodRunning:
		r.phase = 2
	}
	if since, ok := workload.Ready(p); ok {
		r.ready, r.readyFor = true, magnitude(since, now)
	}
	r.restarts, r.sidecars = restarts(p)
	return r
}

// compare orders pods by which to delete first. Equal ones are ordered by uid, which is as good as random
// (LogarithmicScaleDown).
func (r rank) compare(o rank) int {
	return cmp.Or(
		workload.FalseFirst(r.assigned, o.assigned),
		cmp.Compare(r.phase, o.phase),
		workload.FalseFirst(r.ready, o.ready),
		cmp.Compare(r.cost, o.cost),
		cmp.Compare(r.alone, o.alone),
		cmp.Compare(r.readyFor, o.readyFor),
		cmp.Compare(r.restarts, o.restarts),
		cmp.Compare(r.sidecars, o.sidecars),
		cmp.Compare(r.age, o.age),
		cmp.Compare(r.pod.UID, o.pod.UID))
}

// magnitude returns the order of magnitude of the elapsed time; unknown times count as now.
func magnitude(since, now time.Time) int {
	d := now.Sub(since)
	if since.IsZero() || d < 1 {
		return -1
	}
	return int(math.Log2(float64(d)))
}

// deletionCost returns the annotation's value, 0 if it is absent or invalid (K pkg/apis/core/helper:
// GetDeletionCostFromPodAnnotations).
func deletionCost(p *corev1.Pod) int64 {
	n, err := strconv.ParseInt(p.Annotations[corev1.PodDeletionCost], 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// restarts returns the highest restart counts of the containers and of the sidecars, as negative numbers.
func restarts(p *corev1.Pod) (containers, sidecars int) {
	for _, c := range p.Status.ContainerStatuses {
		containers = min(containers, -int(c.RestartCount))
	}
	for i, c := range p.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways &&
			i < len(p.Status.InitContainerStatuses) {
			sidecars = min(sidecars, -int(p.Status.InitContainerStatuses[i].RestartCount))
		}
	}
	return containers, sidecars
}
