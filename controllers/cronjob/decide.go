package cronjob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// View is what a decision is about, as of one moment.
type View struct {
	// CronJob isn't changed.
	CronJob *batchv1.CronJob
	// Jobs are those that it controls.
	Jobs []*batchv1.Job
}

// Plan is what is to be done, in the order of the fields.
type Plan struct {
	// Replace are Jobs that are deleted before Create; if one can't be, nothing else is done.
	Replace []*batchv1.Job
	// Create is the next Job; nil if it isn't time. If it exists and is the CronJob's, that is as good.
	Create *batchv1.Job
	// At is the time of the timetable that Create is for.
	At time.Time
	// Prune are finished Jobs that are deleted, as the history is full.
	Prune []*batchv1.Job
	// Status is the status without Create, which Started adds. Changed says that it is new.
	Status  *batchv1.CronJobStatus
	Changed bool
	// Again is when to look again even if nothing happens; zero: not.
	Again time.Time
	// Events are to be recorded about the CronJob.
	Events []Event
}

// Event is something to be recorded about the CronJob.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Message string
}

// Started adds the Job that was created, as it is stored, to the status.
func (p *Plan) Started(j *batchv1.Job) {
	p.Changed = true
	p.Status.LastScheduleTime = &metav1.Time{Time: p.At}
	p.Status.Active = append(p.Status.Active, corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job",
		Namespace: j.Namespace, Name: j.Name, UID: j.UID, ResourceVersion: j.ResourceVersion,
	})
}

// Kind is what the controller references of a CronJob's Jobs name.
var Kind = batchv1.SchemeGroupVersion.WithKind("CronJob")

// Decide says what is to be done about a CronJob (cronjob_controllerv2.go: sync).
func Decide(v View, now time.Time) Plan {
	jobs := slices.SortedFunc(slices.Values(v.Jobs), func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
	p := &pass{cron: v.CronJob, jobs: jobs, now: now}
	p.Status = v.CronJob.Status.DeepCopy()
	p.settle()
	if v.CronJob.DeletionTimestamp == nil {
		p.start()
	}
	p.prune(batchv1.JobComplete, v.CronJob.Spec.SuccessfulJobsHistoryLimit)
	p.prune(batchv1.JobFailed, v.CronJob.Spec.FailedJobsHistoryLimit)
	p.Changed = !apiequality.Semantic.DeepEqual(p.Status, &v.CronJob.Status)
	return p.Plan
}

// pass is one judgement of a CronJob.
type pass struct {
	Plan
	cron *batchv1.CronJob
	jobs []*batchv1.Job
	now  time.Time
}

func (p *pass) event(kind, reason, format string, args ...any) {
	p.Events = append(p.Events, Event{kind, reason, fmt.Sprintf(format, args...)})
}

// settle takes in what became of the Jobs.
func (p *pass) settle() {
	known := map[types.UID]bool{}
	for _, j := range p.jobs {
		known[j.UID] = true
		how := ending(j)
		switch running := p.running(j.UID); {
		case !running && how == "":
			p.event(corev1.EventTypeWarning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", j.Name)
		case running && how != "":
			p.drop(j.UID)
			p.event(corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, status: %v", j.Name, how)
		}
		if done := j.Status.CompletionTime; how == batchv1.JobComplete && done != nil {
			if last := p.Status.LastSuccessfulTime; last == nil || done.After(last.Time) {
				p.Status.LastSuccessfulTime = done
			}
		}
	}
	for _, ref := range slices.Clone(p.Status.Active) {
		if !known[ref.UID] {
			p.drop(ref.UID)
			p.event(corev1.EventTypeNormal, "MissingJob", "Active job went missing: %v", ref.Name)
		}
	}
}

func (p *pass) running(uid types.UID) bool {
	return slices.ContainsFunc(p.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

func (p *pass) drop(uid types.UID) {
	p.Status.Active = slices.DeleteFunc(p.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

// start plans the next Job if its time has come (cronjob_controllerv2.go: syncCronJob).
func (p *pass) start() {
	spec := &p.cron.Spec
	zone := time.UTC
	if spec.TimeZone != nil {
		var err error
		if zone, err = time.LoadLocation(*spec.TimeZone); err != nil {
			p.event(corev1.EventTypeWarning, "UnknownTimeZone", "invalid timeZone: %q: %s", *spec.TimeZone, err)
			return
		}
	}
	if spec.Suspend != nil && *spec.Suspend {
		return
	}
	if strings.Contains(spec.Schedule, "TZ") {
		p.event(corev1.EventTypeWarning, "UnsupportedSchedule", "CRON_TZ or TZ used in schedule %q is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", spec.Schedule)
	}
	table, err := parse(p.cron)
	if err != nil {
		p.event(corev1.EventTypeWarning, "UnparseableSchedule", "unparseable schedule: %q : %s", spec.Schedule, err)
		return
	}
	due, err := since(table, begin(p.cron, p.now), p.now)
	if err != nil {
		p.event(corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule: %s : %s", spec.Schedule, err)
		return
	}
	if due.many {
		p.event(corev1.EventTypeWarning, "TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	p.Again = next(table, p.cron, p.now)
	if !due.last.IsZero() && p.may(due.last) {
		p.Create, p.At = newJob(p.cron, due.last, zone), due.last
	}
}

// may reports whether a Job is to be made for a time that has come. It plans the end of those that
// are in the way.
func (p *pass) may(at time.Time) bool {
	spec := &p.cron.Spec
	if d := spec.StartingDeadlineSeconds; d != nil && at.Add(seconds(*d)).Before(p.now) {
		p.event(corev1.EventTypeWarning, "MissSchedule", "Missed scheduled time to start a job: %s", at.UTC().Format(time.RFC1123Z))
		return false
	}
	name := jobName(p.cron, at)
	if slices.ContainsFunc(p.Status.Active, func(r corev1.ObjectReference) bool { return r.Name == name }) ||
		p.Status.LastScheduleTime.Equal(&metav1.Time{Time: at}) {
		return false
	}
	switch {
	case len(p.Status.Active) == 0:
	case spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		p.event(corev1.EventTypeNormal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return false
	case spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		p.Replace = slices.DeleteFunc(slices.Clone(p.jobs), func(j *batchv1.Job) bool { return !p.running(j.UID) })
		p.Status.Active = nil
	}
	return true
}

// prune plans the end of the oldest Jobs that ended so, if there are more than the history may have
// (cronjob_controllerv2.go: cleanupFinishedJobs).
func (p *pass) prune(how batchv1.JobConditionType, limit *int32) {
	if limit == nil {
		return
	}
	ended := slices.DeleteFunc(slices.Clone(p.jobs), func(j *batchv1.Job) bool { return ending(j) != how || slices.Contains(p.Replace, j) })
	slices.SortStableFunc(ended, func(a, b *batchv1.Job) int { return byStart(a.Status.StartTime, b.Status.StartTime) })
	if n := len(ended) - int(*limit); n > 0 {
		p.Prune = append(p.Prune, ended[:n]...)
	}
}

// byStart orders times; none is behind all others.
func byStart(a, b *metav1.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(b.Time)
}

// ending is how the Job ended; empty if it hasn't.
func ending(j *batchv1.Job) batchv1.JobConditionType {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// jobName is unique to the minute (I-07).
func jobName(c *batchv1.CronJob, at time.Time) string {
	return fmt.Sprintf("%s-%d", c.Name, at.Unix()/60)
}

// newJob is the Job for a time of the timetable (utils.go: getJobFromTemplate2).
func newJob(c *batchv1.CronJob, at time.Time, zone *time.Location) *batchv1.Job {
	t := c.Spec.JobTemplate.DeepCopy()
	annotations := map[string]string{}
	maps.Copy(annotations, t.Annotations)
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = at.In(zone).Format(time.RFC3339)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: jobName(c, at), Labels: t.Labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, Kind)},
		},
		Spec: t.Spec,
	}
}
