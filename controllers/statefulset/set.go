package statefulset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// place is an ordinal that should have a pod; the pod is nil if there is none.
type place struct {
	number int
	pod    *corev1.Pod
}

// mostMissing is the maximum number of pods that one pass creates. Upstream has no limit, and needs memory for
// spec.replicas pods.
const mostMissing = 500

// pass has the state of one decision about a set.
type pass struct {
	workload.View
	several bool // may be replaced at once
	set     *appsv1.StatefulSet
	now     time.Time
	pods    []*corev1.Pod
	// history is sorted; current and update are revisions of it.
	history         []*appsv1.ControllerRevision
	current, update *appsv1.ControllerRevision
	collisions      int32
	// replicas has the wanted ordinals, in order: all that have a pod, and the first mostMissing that have none. missed
	// is the number of all that have none. surplus has the pods with other ordinals, the highest first.
	replicas []place
	missed   int
	surplus  []*corev1.Pod
	// unhealthy is the first pod that isn't available, nil if all are.
	unhealthy *corev1.Pod
	// replaced is the number of outdated pods that are deleted.
	replaced int32
	plan     workload.Plan
}

// read finds the set's pods and revisions, and returns the actions that adopt and release them.
func (s *pass) read() []workload.Action {
	member := func(o workload.Object) bool { parent, _ := identity(o.GetName()); return parent == s.set.Name }
	claiming := workload.Claiming{Selector: workload.Selector(s.set.Spec.Selector), Adoptable: member}
	var pods, revisions []workload.Action
	s.pods, pods = workload.Claim(s.set, claiming,
		workload.Controlled[*corev1.Pod](s.View, s.set.UID), workload.Free[*corev1.Pod](s.View, s.set.Namespace))
	claiming.Adoptable = nil
	s.history, revisions = workload.Claim(s.set, claiming,
		workload.Controlled[*appsv1.ControllerRevision](s.View, s.set.UID), workload.Free[*appsv1.ControllerRevision](
			s.View, s.set.Namespace,
		))
	return append(pods, revisions...)
}

// arrange assigns each pod to its ordinal.
func (s *pass) arrange() {
	var wanted []*corev1.Pod
	for _, p := range s.pods {
		switch n := ordinal(p); {
		case s.wants(n):
			wanted = append(wanted, p)
		case n >= 0:
			s.surplus = append(s.surplus, p)
		}
	}
	rising := func(a, b *corev1.Pod) int { return cmp.Compare(ordinal(a), ordinal(b)) }
	slices.SortFunc(wanted, rising)
	slices.SortFunc(s.surplus, rising)
	for _, p := range slices.Concat(wanted, s.surplus) {
		if s.unhealthy == nil && s.unavailable(p) {
			s.unhealthy = p
		}
	}
	slices.Reverse(s.surplus)
	s.missed = int(*s.set.Spec.Replicas) - len(wanted)
	next, free := s.start(), mostMissing
	vacant := func(to int) {
		for ; next < to && free > 0; next++ {
			s.replicas, free = append(s.replicas, place{number: next}), free-1
		}
	}
	for _, p := range wanted {
		vacant(ordinal(p))
		s.replicas, next = append(s.replicas, place{ordinal(p), p}), ordinal(p)+1
	}
	vacant(s.start() + int(*s.set.Spec.Replicas))
}

func (s *pass) start() int {
	if s.set.Spec.Ordinals != nil {
		return int(s.set.Spec.Ordinals.Start)
	}
	return 0
}

// wants reports whether the ordinal should have a pod.
func (s *pass) wants(n int) bool {
	return n >= s.start() && n < s.start()+int(*s.set.Spec.Replicas)
}

// ordered reports whether one pod at a time is created or deleted.
func (s *pass) ordered() bool { return s.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement }

// identity splits the name of a set's pod; the ordinal is -1 if there is none.
func identity(name string) (parent string, n int) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", -1
	}
	number, err := strconv.ParseUint(name[i+1:], 10, 31)
	if err != nil {
		return "", -1
	}
	return name[:i], int(number)
}

func ordinal(p *corev1.Pod) int {
	_, n := identity(p.Name)
	return n
}

func (s *pass) available(p *corev1.Pod) bool {
	return s.plan.Available(p, s.set.Spec.MinReadySeconds, s.now)
}

func (s *pass) unavailable(p *corev1.Pod) bool { return p.DeletionTimestamp != nil || !s.available(p) }

// healthy reports whether the pod is running and ready.
func healthy(p *corev1.Pod) bool {
	return workload.IsReady(p) && p.Status.Phase == corev1.PodRunning
}

func revisionOf(p *corev1.Pod) string { return p.Labels[appsv1.StatefulSetRevisionLabel] }

// newPod returns the pod of an ordinal (stateful_set_utils.go: newVersionedStatefulSetPod). Pods below the partition
// keep the current revision.
func (s *pass) newPod(n int) *corev1.Pod {
	r := s.update
	if u := s.set.Spec.UpdateStrategy; u.Type == appsv1.RollingUpdateStatefulSetStrategyType && u.RollingUpdate == nil {
		if n < s.start()+int(s.set.Status.CurrentReplicas) {
			r = s.current
		}
	} else if n < s.start()+s.partition() {
		r = s.current
	}
	p := workload.FromTemplate(s.set, s.template(r))
	p.Name = s.set.Name + "-" + strconv.Itoa(n)
	p.Labels = labels.Merge(p.Labels, map[string]string{
		appsv1.StatefulSetPodNameLabel: p.Name, appsv1.PodIndexLabel: strconv.Itoa(n),
		appsv1.StatefulSetRevisionLabel: r.Name,
	})
	p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.set.Spec.ServiceName
	p.Spec.Volumes = s.volumes(p.Spec.Volumes, n)
	return p
}

// partition returns the ordinal below which no pod is replaced.
func (s *pass) partition() int {
	if u := s.set.Spec.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil {
		return int(*u.Partition)
	}
	return 0
}
