package election

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// record is the state of the lease as a candidate last saw it. It belongs to one goroutine.
type record struct {
	identity string
	duration time.Duration
	// seize reports whether the candidate takes the lease from any holder, once.
	seize bool

	// seen is the newest state that was read or written. since is the time at which this candidate first saw it.
	seen  *coordinationv1.LeaseSpec
	since time.Time
}

// observe records the state of the lease at a time.
func (r *record) observe(spec *coordinationv1.LeaseSpec, now time.Time) {
	if r.seen == nil || !equality.Semantic.DeepEqual(r.seen, spec) {
		r.seen, r.since = spec.DeepCopy(), now
	}
}

// mine reports whether this candidate is the last known holder.
func (r *record) mine() bool { return r.seen != nil && holder(r.seen) == r.identity }

// mayAcquire reports whether this candidate may acquire or renew the observed lease.
func (r *record) mayAcquire(now time.Time) bool {
	switch {
	case r.seize, r.mine(), holder(r.seen) == "":
		return true
	case r.seen.LeaseDurationSeconds == nil:
		return true
	}
	return !now.Before(r.since.Add(time.Duration(*r.seen.LeaseDurationSeconds) * time.Second))
}

// held returns the spec with which this candidate acquires or renews the lease; old is nil for a new lease.
func (r *record) held(old *coordinationv1.LeaseSpec, now time.Time) coordinationv1.LeaseSpec {
	at := metav1.NewMicroTime(now)
	seconds, transitions := int32(r.duration/time.Second), int32(0)
	spec := coordinationv1.LeaseSpec{
		HolderIdentity: &r.identity, LeaseDurationSeconds: &seconds,
		AcquireTime: &at, RenewTime: &at, LeaseTransitions: &transitions,
	}
	if old == nil {
		return spec
	}
	spec.Strategy, spec.PreferredHolder = old.Strategy, old.PreferredHolder
	if old.LeaseTransitions != nil {
		transitions = *old.LeaseTransitions
	}
	if holder(old) == r.identity {
		spec.AcquireTime = old.AcquireTime
	} else {
		transitions++
	}
	return spec
}

// released returns the spec with which the holder releases the lease: no holder, and a minimal duration.
func (r *record) released(old *coordinationv1.LeaseSpec, now time.Time) coordinationv1.LeaseSpec {
	spec := *old.DeepCopy()
	at := metav1.NewMicroTime(now)
	spec.HolderIdentity, spec.LeaseDurationSeconds = new(""), new(int32(1))
	spec.AcquireTime, spec.RenewTime = &at, &at
	return spec
}

func holder(spec *coordinationv1.LeaseSpec) string {
	return ptr.Deref(spec.HolderIdentity, "")
}
