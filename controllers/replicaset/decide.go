package replicaset

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// burst is the maximum number of pods that a pass creates or deletes (K pkg/controller/replicaset: BurstReplicas).
const burst = 500

// The minimum time between two passes is rest for each pod of the set, at most mostRest. Otherwise, when all pods of a
// large set change, each change would cause a pass that counts all of them.
const rest, mostRest = time.Millisecond, 500 * time.Millisecond

func decide(v workload.View, s set, now time.Time) workload.Plan {
	var p workload.Plan
	mine, claims := workload.Claim(s.Object, workload.Claiming{Selector: s.selector},
		counted(workload.Controlled[*corev1.Pod](v, s.GetUID())), counted(workload.Free[*corev1.Pod](v, s.GetNamespace())))
	active := slices.DeleteFunc(slices.Clone(mine), func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	p.Do = claims
	if s.GetDeletionTimestamp() == nil {
		p.Do = append(p.Do, scale(v, s, active, now)...)
	}
	p.Rest = min(time.Duration(len(mine))*rest, mostRest)
	next, wait := s.next(active, len(mine)-len(active), v.Failed, now)
	p.Again = wait
	if !equality.Semantic.DeepEqual(s.status, next) {
		p.Status = s.with(next)
	}
	return p
}

// counted removes finished pods, which a set ignores.
func counted(pods []*corev1.Pod) []*corev1.Pod { return slices.DeleteFunc(pods, workload.Finished) }

// scale creates missing pods or deletes surplus ones.
func scale(v workload.Reader, s set, active []*corev1.Pod, now time.Time) (do []workload.Action) {
	diff := len(active) - s.replicas
	if diff < 0 {
		pod := workload.FromTemplate(s.Object, s.template)
		for range min(-diff, burst) {
			do = append(do, workload.CreatePod(pod))
		}
		return do
	}
	var nodes map[string]int
	if diff > 0 && diff < len(active) {
		nodes = related(v, s, active)
	}
	for _, pod := range first(active, nodes, min(diff, burst), now) {
		do = append(do, workload.DeletePod(pod))
	}
	return do
}

// related counts, by node, the active pods of this set and of all sets with the same controller (K
// pkg/controller/replicaset: getIndirectlyRelatedPods).
func related(v workload.Reader, s set, active []*corev1.Pod) map[string]int {
	nodes := map[string]int{}
	add := func(pods []*corev1.Pod) {
		for _, p := range pods {
			if workload.Active(p) {
				nodes[p.Spec.NodeName]++
			}
		}
	}
	owner := metav1.GetControllerOf(s.Object)
	if owner == nil {
		add(active)
		return nodes
	}
	for _, rs := range workload.Controlled[*appsv1.ReplicaSet](v, owner.UID) {
		add(workload.Controlled[*corev1.Pod](v, rs.UID))
	}
	return nodes
}
