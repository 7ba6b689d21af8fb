package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns the controller of CronJobs.
func New() workload.Controller {
	return workload.Controller{
		Name: "cronjob-controller", For: workload.CronJobs, Owns: []workload.Resource{workload.Jobs},
		Awaits: "spec.schedule", Decide: workload.Present(decide),
	}
}

// decide decides what to do about a CronJob (cronjob_controllerv2.go: sync).
func decide(v workload.View, c *batchv1.CronJob, now time.Time) workload.Plan {
	p := &pass{view: v, cron: c, jobs: workload.Controlled[*batchv1.Job](v, c.UID), now: now, status: c.Status.DeepCopy()}
	p.updateStatus()
	if c.DeletionTimestamp == nil {
		p.start()
	}
	p.prune(batchv1.JobComplete, c.Spec.SuccessfulJobsHistoryLimit)
	p.prune(batchv1.JobFailed, c.Spec.FailedJobsHistoryLimit)
	if !apiequality.Semantic.DeepEqual(p.status, &c.Status) {
		next := c.DeepCopy()
		next.Status = *p.status
		p.plan.Status = next
	}
	return p.plan
}

// pass has the state of one decision about a CronJob.
type pass struct {
	view workload.View
	cron *batchv1.CronJob
	// jobs has the Jobs that the CronJob controls, sorted by name. replaced has those that the next Job replaces.
	jobs, replaced []*batchv1.Job
	now            time.Time
	status         *batchv1.CronJobStatus
	plan           workload.Plan
}

func (p *pass) tell(e workload.Event) { p.plan.Events = append(p.plan.Events, e) }

func (p *pass) warn(reason, format string, args ...any) {
	p.tell(workload.Warning(reason, fmt.Sprintf(format, args...)))
}

func (p *pass) updateStatus() {
	known := map[types.UID]bool{}
	for _, j := range p.jobs {
		known[j.UID] = true
		if at, ok := p.made(j); ok {
			p.started(j, at)
		}
		how := ending(j)
		switch running := p.running(j.UID); {
		case !running && how == "":
			p.warn("UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", j.Name)
		case running && how != "":
			p.drop(j.UID)
			p.tell(workload.Normal("SawCompletedJob", fmt.Sprintf("Saw completed job: %s, status: %v", j.Name, how)))
		}
		if done := j.Status.CompletionTime; how == batchv1.JobComplete && done != nil {
			if last := p.status.LastSuccessfulTime; last == nil || done.After(last.Time) {
				p.status.LastSuccessfulTime = done
			}
		}
	}
	for _, ref := range slices.Clone(p.status.Active) {
		if !known[ref.UID] {
			p.drop(ref.UID)
			p.tell(workload.Normal("MissingJob", "Active job went missing: "+ref.Name))
		}
	}
}

// made reports whether the Job was created for a time that the status doesn't have yet.
func (p *pass) made(j *batchv1.Job) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	return at, err == nil && j.Name == jobName(p.cron, at) && !p.running(j.UID) &&
		at.After(handled(p.cron, &p.cron.Status))
}

// started adds a Job to the status.
func (p *pass) started(j *batchv1.Job, at time.Time) {
	p.status.LastScheduleTime = &metav1.Time{Time: at}
	p.status.Active = append(p.status.Active, corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job",
		Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: j.ResourceVersion,
	})
}

func (p *pass) running(uid types.UID) bool {
	return slices.ContainsFunc(p.status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

func (p *pass) drop(uid types.UID) {
	p.status.Active = slices.DeleteFunc(p.status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

// start plans the next Job if its time has come (cronjob_controllerv2.go: syncCronJob).
func (p *pass) start() {
	spec := &p.cron.Spec
	zone := time.UTC
	if spec.TimeZone != nil {
		var err error
		if zone, err = time.LoadLocation(*spec.TimeZone); err != nil {
			p.warn("UnknownTimeZone", "invalid timeZone: %q: %s", *spec.TimeZone, err)
			return
		}
	}
	if spec.Suspend != nil && *spec.Suspend {
		return
	}
	if strings.Contains(spec.Schedule, "TZ") {
		p.warn("UnsupportedSchedule", "CRON_TZ or TZ used in schedule %q is not officially supported, see "+
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", spec.Schedule)
	}
	table, err := parse(p.cron)
	if err != nil {
		p.warn("UnparseableSchedule", "unparseable schedule: %q : %s", spec.Schedule, err)
		return
	}
	from := handled(p.cron, p.status)
	due, err := since(table, begin(p.cron, from, p.now), p.now)
	if err != nil {
		p.warn("InvalidSchedule", "invalid schedule: %s : %s", spec.Schedule, err)
		return
	}
	if due.many {
		p.warn("TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	p.plan.Again = max(time.Millisecond, next(table, from, p.now).Sub(p.now))
	if due.last.IsZero() || p.view.Failed != nil || !p.may(due.last) {
		return
	}
	j := newJob(p.cron, due.last, zone)
	i := slices.IndexFunc(p.jobs, func(old *batchv1.Job) bool { return old.Name == j.Name })
	switch {
	case i >= 0:
		p.started(p.jobs[i], due.last)
	case workload.Get[*batchv1.Job](p.view, j.Namespace, j.Name) == nil: // the next pass adds it to the status
		p.plan.Do = append(p.plan.Do, workload.Create{Object: j,
			Done:   workload.Normal("SuccessfulCreate", "Created job "+workload.Name),
			Failed: workload.Warning("FailedCreate", "Error creating job: "+workload.Problem)})
	}
}

// may reports whether a Job may be created for a time that has come. It plans the deletion of Jobs that prevent it.
func (p *pass) may(at time.Time) bool {
	spec := &p.cron.Spec
	if d := spec.StartingDeadlineSeconds; d != nil && at.Add(seconds(*d)).Before(p.now) {
		p.warn("MissSchedule", "Missed scheduled time to start a job: %s", at.UTC().Format(time.RFC1123Z))
		return false
	}
	name := jobName(p.cron, at)
	if slices.ContainsFunc(p.status.Active, func(r corev1.ObjectReference) bool { return r.Name == name }) ||
		p.status.LastScheduleTime.Equal(&metav1.Time{Time: at}) {
		return false
	}
	switch {
	case len(p.status.Active) == 0:
	case spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		p.tell(workload.Normal("JobAlreadyActive",
			"Not starting job because prior execution is running and concurrency policy is Forbid"))
		return false
	case spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		p.replaced = slices.DeleteFunc(slices.Clone(p.jobs), func(j *batchv1.Job) bool { return !p.running(j.UID) })
		p.remove(p.replaced)
		p.status.Active = nil
	}
	return true
}

// remove plans the deletion of Jobs with their pods (cronjob_controllerv2.go: deleteJob).
func (p *pass) remove(jobs []*batchv1.Job) {
	for _, j := range jobs {
		p.plan.Do = append(p.plan.Do, workload.Delete{Object: j, Policy: metav1.DeletePropagationBackground,
			Done:   workload.Normal("SuccessfulDelete", "Deleted job "+workload.Name),
			Failed: workload.Warning("FailedDelete", "Deleted job: "+workload.Problem)})
	}
}

// prune plans the deletion of the oldest Jobs that ended in this way, if there are more than the history limit
// (cronjob_controllerv2.go: cleanupFinishedJobs).
func (p *pass) prune(how batchv1.JobConditionType, limit *int32) {
	if limit == nil {
		return
	}
	ended := slices.DeleteFunc(slices.Clone(p.jobs), func(j *batchv1.Job) bool {
		return ending(j) != how || slices.Contains(p.replaced, j)
	})
	slices.SortStableFunc(ended, func(a, b *batchv1.Job) int { return startOf(a).Compare(startOf(b)) })
	p.remove(ended[:max(0, len(ended)-int(*limit))])
}

// startOf returns the time when a Job was started, one that is later than all others if it wasn't.
func startOf(j *batchv1.Job) time.Time {
	if j.Status.StartTime == nil {
		return time.Unix(1<<40, 0)
	}
	return j.Status.StartTime.Time
}

// ending returns how the Job ended; empty if it hasn't.
func ending(j *batchv1.Job) batchv1.JobConditionType {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// jobName returns the name of a Job, which has the time in minutes (I-07).
func jobName(c *batchv1.CronJob, at time.Time) string {
	return fmt.Sprintf("%s-%d", c.Name, at.Unix()/60)
}

// newJob returns the Job for a scheduled time (utils.go: getJobFromTemplate2).
func newJob(c *batchv1.CronJob, at time.Time, zone *time.Location) *batchv1.Job {
	t := c.Spec.JobTemplate.DeepCopy()
	metav1.SetMetaDataAnnotation(&t.ObjectMeta, batchv1.CronJobScheduledTimestampAnnotation,
		at.In(zone).Format(time.RFC3339))
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: jobName(c, at), Labels: t.Labels, Annotations: t.Annotations,
			OwnerReferences: []metav1.OwnerReference{workload.ControllerRef(c)},
		},
		Spec: t.Spec,
	}
}
