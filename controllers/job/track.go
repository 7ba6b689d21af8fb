package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// account plans the status. ok reports whether the plan's creations and deletions have succeeded.
func (p *pass) account(ok bool) {
	a := &account{pass: p, status: p.job.Status.DeepCopy(), finish: p.finish}
	if !ok {
		a.finish = nil // a finished Job would not track its remaining pods
	}
	a.numbers(ok)
	if p.finish == nil && !a.complete() && p.managed {
		a.suspension()
	}
	a.countReleased()
	a.collect()
	if indexed(p.job) {
		a.indexes()
	}
	a.end()
	if !apiequality.Semantic.DeepEqual(p.stored, a.status) {
		p.job.Status = *a.status
		p.plan.Status = p.job
	}
}

// account is the status while it is computed.
type account struct {
	*pass
	status *batchv1.JobStatus
	// finish is pass.finish, or the condition that the Job is complete.
	finish *batchv1.JobCondition
	// fresh are the newly succeeded indexes.
	fresh []int
}

// numbers sets the numbers of active, ready and terminating pods.
func (a *account) numbers(ok bool) {
	activePods, readyPods := int32(len(a.active)), count(a.active, workload.IsReady)
	leaving := count(a.pods, workload.Terminating)
	if ok {
		gone := int32(len(a.plan.Remove))
		activePods += int32(len(a.plan.Create)) - gone
		readyPods -= count(a.plan.Remove, workload.IsReady)
		leaving += gone
	}
	a.status.Active, a.status.Ready, a.status.Terminating = activePods, &readyPods, &leaving
}

// complete sets finish if no work is left.
func (a *account) complete() bool {
	enough := a.succeeded > 0
	if c := a.job.Spec.Completions; c != nil {
		enough = a.succeeded >= *c
	}
	if !enough || a.status.Active > 0 {
		return false
	}
	a.finish = a.newCondition(
		batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods",
	)
	return true
}

// suspension sets the condition for suspension. The start time is set again when the Job is resumed.
func (a *account) suspension() {
	c := a.newCondition(batchv1.JobSuspended, "JobSuspended", "Job suspended")
	reason := "Suspended"
	if !a.suspended() {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, "JobResumed", "Job resumed"
		reason = "Resumed"
	}
	var changed bool
	if a.status.Conditions, changed = ensure(a.status.Conditions, *c); changed {
		a.event(workload.Normal(reason, c.Message))
	}
	switch {
	case a.suspended():
		a.status.StartTime = nil // MutableSchedulingDirectivesForSuspendedJobs, on by default as of 1.36
	case changed:
		a.status.StartTime = a.time()
	}
}

// countReleased moves pods whose finalizer is gone from the uncounted ones to the counters (job_controller.go:
// cleanUncountedPodsWithoutFinalizers).
func (a *account) countReleased() {
	left := map[types.UID]bool{}
	for _, pod := range a.pods {
		left[pod.UID] = tracked(pod)
	}
	move := func(list []types.UID, counter *int32) (rest []types.UID) {
		for _, u := range list {
			if left[u] {
				rest = append(rest, u)
			} else {
				*counter++
			}
		}
		return rest
	}
	u := a.status.UncountedTerminatedPods
	u.Succeeded = move(u.Succeeded, &a.status.Succeeded)
	u.Failed = move(u.Failed, &a.status.Failed)
}

// collect adds finished pods to the uncounted ones, as many as fit into one status, and plans to remove the finalizers
// of those that the stored status has (job_controller.go: trackJobStatusAndRemoveFinalizers).
func (a *account) collect() {
	u := a.status.UncountedTerminatedPods
	for _, pod := range a.pods {
		if !tracked(pod) || !a.mayGo(pod) {
			continue
		}
		switch a.due(pod) {
		case nowhere:
			// The interim condition is stored before uncounted pods are released.
			if !a.interim() {
				a.plan.Forget = append(a.plan.Forget, pod)
			}
		case successes:
			u.Succeeded = append(u.Succeeded, pod.UID)
		case failures:
			u.Failed = append(u.Failed, pod.UID)
		case completed:
			a.fresh = append(a.fresh, indexOf(pod))
		}
		if len(a.fresh)+len(u.Succeeded)+len(u.Failed) >= mostUncounted {
			return
		}
	}
}

// place is the part of the status that must contain a pod before its finalizer is removed.
type place uint8

const (
	nowhere   place = iota // the status has the pod, or need not have it
	successes              // uncountedTerminatedPods.succeeded
	failures               // uncountedTerminatedPods.failed
	completed              // completedIndexes
)

// due returns the part of the status that still lacks the pod.
func (a *account) due(pod *corev1.Pod) place {
	switch {
	case !counted(a.job, pod):
	case pod.Status.Phase == corev1.PodSucceeded && !a.uncounted.failed.Has(pod.UID):
		switch {
		case indexed(a.job) && !a.doneBefore.has(indexOf(pod)):
			return completed
		case !indexed(a.job) && !a.uncounted.succeeded.Has(pod.UID):
			return successes
		}
	case lost(a.job, pod) || a.fails():
		if !a.uncounted.failed.Has(pod.UID) && matchRule(a.job.Spec.PodFailurePolicy, pod).counts() {
			return failures
		}
	}
	return nowhere
}

// fails reports whether the Job ends in failure: active pods then count as failed.
func (a *account) fails() bool {
	return a.finish != nil && (a.finish.Type == batchv1.JobFailureTarget || a.finish.Type == batchv1.JobFailed)
}

// mayGo reports whether the pod's finalizer can be removed once the pod is counted (job_controller.go:
// canRemoveFinalizer).
func (a *account) mayGo(pod *corev1.Pod) bool {
	if a.job.DeletionTimestamp != nil || a.finish != nil || pod.Status.Phase == corev1.PodSucceeded {
		return true
	}
	return lost(a.job, pod) && a.held[indexOf(pod)] != pod
}

func (a *account) indexes() {
	done := a.done.with(setOf(a.fresh))
	a.status.Succeeded = int32(done.total())
	a.status.CompletedIndexes = done.String()
	a.status.FailedIndexes = nil
	if a.job.Spec.BackoffLimitPerIndex != nil {
		a.status.FailedIndexes = new(a.lost.String())
	}
}

// interim reports whether this pass has found that the Job ends.
func (a *account) interim() bool {
	return a.finish != nil && (a.finish.Type == batchv1.JobFailureTarget || a.finish.Type == batchv1.JobSuccessCriteriaMet)
}

// end adds the condition with which the Job ends: the interim one first, and the final one only in a later pass, when
// every pod is counted and gone (job_controller.go: enactJobFinished).
func (a *account) end() {
	f, u := a.finish, a.status.UncountedTerminatedPods
	switch {
	case f == nil:
		return
	case a.interim():
		a.status.Conditions, _ = ensure(a.status.Conditions, *f)
		return
	case count(a.pods, tracked) > 0 || len(u.Succeeded)+len(u.Failed) > 0 || *a.status.Terminating > 0:
		return
	}
	a.status.Conditions, _ = ensure(a.status.Conditions, *f)
	if f.Type == batchv1.JobFailed {
		a.event(workload.Warning(f.Reason, f.Message))
		return
	}
	a.status.CompletionTime = &f.LastTransitionTime
	if c := a.job.Spec.Completions; c != nil && a.status.Succeeded > *c {
		a.event(workload.Warning("TooManySucceededPods", "Too many succeeded pods running after completion count reached"))
	}
	a.event(workload.Normal("Completed", "Job completed"))
}

func (a *account) event(e workload.Event) { a.plan.Events = append(a.plan.Events, e) }
