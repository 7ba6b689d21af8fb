package job

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// pass has the state of one decision about a Job.
type pass struct {
	job    *batchv1.Job
	now    time.Time
	pods   []*corev1.Pod
	stored *batchv1.JobStatus
	active []*corev1.Pod
	// uncounted has the UIDs in status.uncountedTerminatedPods.
	uncounted struct{ succeeded, failed sets.Set[types.UID] }
	// succeeded and failed are the numbers of such pods, including those that aren't in the counters yet.
	succeeded, failed int32
	// done has the indexes that have succeeded, doneBefore those of them in the status. lost has the indexes that have
	// failed for the last time, if there is a limit per index.
	done, doneBefore, lost indexes
	// held has the failed pods that are kept until their replacements exist, which continue their count of failures.
	held map[int]*corev1.Pod
	// finish is the condition with which the Job ends; nil if it continues. It is the interim condition, or the final
	// one if the status has the interim one.
	finish *batchv1.JobCondition
	// managed reports whether this pass creates or deletes pods: it does unless the Job ends or is being deleted.
	managed bool
	plan    Plan
}

// Decide decides what to do about a Job (job_controller.go: syncJob).
func Decide(v View, now time.Time) Plan {
	if !Managed(v.Job) || Finished(v.Job) {
		return Plan{}
	}
	p := read(v, now)
	p.conclude()
	switch {
	case p.finish != nil && p.finish.Type == batchv1.JobSuccessCriteriaMet:
		p.remove(p.active)
	case p.finish != nil:
		p.plan.Remove = p.active
	case p.job.DeletionTimestamp == nil:
		p.managed = true
		p.manage()
	}
	p.account(!v.Failed)
	return p.plan
}

// read counts the pods.
func read(v View, now time.Time) *pass {
	p := &pass{job: v.Job.DeepCopy(), now: now, pods: slices.Clone(v.Pods), stored: v.Job.Status.DeepCopy()}
	slices.SortFunc(p.pods, func(a, b *corev1.Pod) int {
		if indexed(p.job) {
			return cmp.Or(cmp.Compare(indexOf(a), indexOf(b)), cmp.Compare(a.Name, b.Name))
		}
		return cmp.Compare(a.Name, b.Name)
	})
	p.active = filter(p.pods, workload.Active)
	status := &p.job.Status
	status.UncountedTerminatedPods = cmp.Or(status.UncountedTerminatedPods, &batchv1.UncountedTerminatedPods{})
	p.uncounted.succeeded = sets.New(status.UncountedTerminatedPods.Succeeded...)
	p.uncounted.failed = sets.New(status.UncountedTerminatedPods.Failed...)
	succeeded := p.fresh(p.uncounted.succeeded, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded
	})
	failed := p.fresh(p.uncounted.failed, func(pod *corev1.Pod) bool { return lost(p.job, pod) })
	p.succeeded = status.Succeeded + int32(len(succeeded)+len(p.uncounted.succeeded))
	p.failed = status.Failed + int32(len(p.uncounted.failed)) + count(failed, func(pod *corev1.Pod) bool {
		return matchRule(p.job.Spec.PodFailurePolicy, pod).counts()
	})
	p.plan.Backoff = v.Backoff.after(succeeded, failed)
	for _, pod := range slices.Concat(succeeded, failed) {
		p.plan.Fresh = append(p.plan.Fresh, pod.UID)
	}
	if status.StartTime == nil && !p.suspended() {
		status.StartTime = p.time()
	}
	if indexed(p.job) {
		p.readIndexes()
	}
	return p
}

// readIndexes counts by indexes, including pods that have finished since (indexed_job_utils.go).
func (p *pass) readIndexes() {
	limit := int(*p.job.Spec.Completions)
	mine := filter(p.pods, func(pod *corev1.Pod) bool { return tracked(pod) && counted(p.job, pod) })
	p.doneBefore = parseIndexes(p.job.Status.CompletedIndexes, limit)
	p.done = p.doneBefore.with(indexesOf(filter(mine, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded
	})))
	p.succeeded = int32(p.done.total())
	if p.job.Spec.BackoffLimitPerIndex == nil {
		return
	}
	if s := p.job.Status.FailedIndexes; s != nil {
		p.lost = parseIndexes(*s, limit)
	}
	if isTrue(p.job.Status.Conditions, batchv1.JobFailureTarget) {
		return // the remaining pods were deleted because of the failure
	}
	p.lost = p.lost.with(indexesOf(filter(mine, p.gaveUp)))
	p.held = map[int]*corev1.Pod{}
	busy := p.done.with(p.lost).with(indexesOf(p.active))
	for _, pod := range mine {
		i := indexOf(pod)
		if !lost(p.job, pod) || busy.has(i) {
			continue
		}
		if old := p.held[i]; old == nil || attempts(old) <= attempts(pod) && !finished(pod).Before(finished(old)) {
			p.held[i] = pod
		}
	}
}

// fresh returns the pods that aren't in the status yet.
func (p *pass) fresh(known sets.Set[types.UID], what func(*corev1.Pod) bool) []*corev1.Pod {
	return filter(p.pods, func(pod *corev1.Pod) bool {
		return tracked(pod) && !known.Has(pod.UID) && counted(p.job, pod) && what(pod)
	})
}

// conclude sets finish if the Job ends. An earlier condition stays.
func (p *pass) conclude() {
	if c := find(p.job.Status.Conditions, batchv1.JobSuccessCriteriaMet); c != nil && c.Status == corev1.ConditionTrue {
		p.finish = p.newCondition(batchv1.JobComplete, c.Reason, c.Message)
		return
	}
	if c := find(p.job.Status.Conditions, batchv1.JobFailureTarget); c != nil && c.Status == corev1.ConditionTrue {
		p.finish = p.newCondition(batchv1.JobFailed, c.Reason, c.Message)
		return
	}
	if reason, message := p.failure(); reason != "" {
		p.finish = p.newCondition(batchv1.JobFailureTarget, reason, message)
		return
	}
	if p.job.Spec.ActiveDeadlineSeconds != nil && !p.suspended() {
		p.plan.Within(p.deadline().Sub(p.now))
	}
	if message, ok := succeeds(p.job, p.done); ok {
		p.finish = p.newCondition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, message)
	}
}

// failure returns the reason and the message of the Job's failure; the reason is empty if it doesn't fail. The order of
// checks is upstream's.
func (p *pass) failure() (reason, message string) {
	for _, pod := range p.pods {
		if j := matchRule(p.job.Spec.PodFailurePolicy, pod); j.action == batchv1.PodFailurePolicyActionFailJob &&
			lost(p.job, pod) {
			return batchv1.JobReasonPodFailurePolicy, j.message
		}
	}
	switch {
	case p.failed > *p.job.Spec.BackoffLimit || p.restartsExceeded():
		return batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit"
	case p.job.Spec.ActiveDeadlineSeconds != nil && !p.suspended() && !p.now.Before(p.deadline()):
		return batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline"
	case p.job.Spec.MaxFailedIndexes != nil && p.lost.total() > int(*p.job.Spec.MaxFailedIndexes):
		return batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes"
	case len(p.lost) > 0 && p.lost.total()+p.done.total() >= int(*p.job.Spec.Completions):
		return batchv1.JobReasonFailedIndexes, "Job has failed indexes"
	}
	return "", ""
}

// restartsExceeded checks the restarts of containers in their pods (job_controller.go: pastBackoffLimitOnFailure).
func (p *pass) restartsExceeded() bool {
	if p.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	n := int32(0)
	for _, pod := range p.pods {
		if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			n += c.RestartCount
		}
	}
	return n >= max(1, *p.job.Spec.BackoffLimit)
}

// deadline returns the time when the Job must have finished, by spec.activeDeadlineSeconds.
func (p *pass) deadline() time.Time {
	return p.job.Status.StartTime.Add(time.Duration(*p.job.Spec.ActiveDeadlineSeconds) * time.Second)
}

func (p *pass) suspended() bool { return p.job.Spec.Suspend != nil && *p.job.Spec.Suspend }

func (p *pass) time() *metav1.Time { return new(metav1.NewTime(p.now)) }
