package deployment

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// state is the state of a deployment, and the plan so far.
type state struct {
	view workload.View
	d    *appsv1.Deployment
	now  time.Time
	// size is the desired number of pods. surge is the maximum number of additional pods, and missing the maximum
	// number of unavailable pods.
	size, surge, missing int32
	// newest is the ReplicaSet with the deployment's template; nil if there is none. olds has the other ReplicaSets.
	// all has all ReplicaSets, oldest first.
	newest    *appsv1.ReplicaSet
	olds, all []*appsv1.ReplicaSet

	do []workload.Action
	// edits has the new states of ReplicaSets, with their events.
	edits map[types.UID]*edit
	// status and annotations are the new ones of the deployment.
	status      appsv1.DeploymentStatus
	annotations map[string]string
	again       time.Duration
}

type edit struct {
	rs     *appsv1.ReplicaSet
	scaled workload.Event
}

func newState(v workload.View, d *appsv1.Deployment, mine []*appsv1.ReplicaSet, now time.Time) *state {
	s := &state{view: v, d: d, now: now, size: ptr.Deref(d.Spec.Replicas, 1), all: mine, edits: map[types.UID]*edit{},
		status: *d.Status.DeepCopy(), annotations: d.Annotations}
	s.surge, s.missing = bounds(d, s.size)
	slices.SortFunc(s.all, older)
	for _, rs := range s.all {
		if s.newest == nil && sameTemplate(&rs.Spec.Template, &d.Spec.Template) {
			s.newest = rs // the oldest, if there are several
		} else {
			s.olds = append(s.olds, rs)
		}
	}
	return s
}

// size returns the desired number of replicas of a ReplicaSet.
func size(rs *appsv1.ReplicaSet) int32 { return ptr.Deref(rs.Spec.Replicas, 1) }

func older(a, b *appsv1.ReplicaSet) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// sameTemplate compares templates without the hash (EqualIgnoreHash).
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	delete(a.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	delete(b.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return equality.Semantic.DeepEqual(a, b)
}

// bounds resolves maxSurge and maxUnavailable; one of them is at least 1 (ResolveFenceposts, MaxUnavailable).
func bounds(d *appsv1.Deployment, replicas int32) (surge, missing int32) {
	r := d.Spec.Strategy.RollingUpdate
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || r == nil {
		return 0, 0
	}
	surge, missing = share(r.MaxSurge, replicas, true), share(r.MaxUnavailable, replicas, false)
	if surge == 0 && missing == 0 {
		missing = 1
	}
	return surge, min(missing, replicas)
}

// share resolves a number or a percentage.
func share(v *intstr.IntOrString, of int32, up bool) int32 {
	zero := intstr.FromInt32(0)
	n, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(v, zero), int(of), up)
	if err != nil {
		return 0
	}
	return int32(n)
}

// sum returns the sum of a number over all ReplicaSets. A nil ReplicaSet adds nothing.
func sum(list []*appsv1.ReplicaSet, of func(*appsv1.ReplicaSet) int32) (n int32) {
	for _, rs := range list {
		if rs != nil {
			n += of(rs)
		}
	}
	return n
}

func actual(rs *appsv1.ReplicaSet) int32    { return rs.Status.Replicas }
func available(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas }
func ready(rs *appsv1.ReplicaSet) int32     { return rs.Status.ReadyReplicas }

// active returns the ReplicaSets whose desired number of replicas is above 0.
func active(list []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	return slices.DeleteFunc(slices.Clone(list), func(rs *appsv1.ReplicaSet) bool { return rs == nil || size(rs) == 0 })
}

// edit returns the new state of a ReplicaSet. The caller may change it.
func (s *state) edit(rs *appsv1.ReplicaSet) *edit {
	e := s.edits[rs.UID]
	if e == nil {
		e = &edit{rs: rs.DeepCopy()}
		s.edits[rs.UID] = e
	}
	return e
}

func (s *state) plan() workload.Plan {
	p := workload.Plan{Do: s.do, Again: s.again}
	for _, rs := range s.all {
		if e := s.edits[rs.UID]; e != nil && !equality.Semantic.DeepEqual(e.rs, rs) {
			p.Do = append(p.Do, workload.Update{Object: e.rs, Done: e.scaled})
		}
	}
	if !equality.Semantic.DeepEqual(s.status, s.d.Status) || !equality.Semantic.DeepEqual(s.annotations, s.d.Annotations) {
		d := s.d.DeepCopy()
		d.Status, d.Annotations = s.status, s.annotations
		p.Status = d
	}
	return p
}
