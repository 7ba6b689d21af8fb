package defaults

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Job runs one pod once, unless it says how many. A job without labels gets its template's: the very
// map, as upstream's does, so that the labels which are added to the template on creation show on
// the job, unless it has been copied before (as objects with generateName are).
func Job(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		set(&s.Completions, 1)
	}
	set(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		set(&s.BackoffLimit, math.MaxInt32)
	}
	set(&s.BackoffLimit, 6)
	if t := s.Template.Labels; t != nil && len(j.Labels) == 0 {
		j.Labels = t
	}
	set(&s.CompletionMode, batchv1.NonIndexedCompletion)
	set(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		set(&s.PodReplacementPolicy, batchv1.Failed)
	}
	set(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	set(&s.ManualSelector, false)
	jobSpec(s)
}

// jobSpec is what also holds for the jobs that a CronJob makes.
func jobSpec(s *batchv1.JobSpec) {
	if p := s.PodFailurePolicy; p != nil {
		for i := range p.Rules {
			for j := range p.Rules[i].OnPodConditions {
				fill(&p.Rules[i].OnPodConditions[j].Status, corev1.ConditionTrue)
			}
		}
	}
	template(&s.Template)
}

// CronJob starts jobs side by side and keeps three that succeeded and one that failed.
func CronJob(c *batchv1.CronJob) {
	fill(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	set(&c.Spec.Suspend, false)
	set(&c.Spec.SuccessfulJobsHistoryLimit, 3)
	set(&c.Spec.FailedJobsHistoryLimit, 1)
	jobSpec(&c.Spec.JobTemplate.Spec)
}
