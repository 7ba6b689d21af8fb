package batch

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/defaulting"
)

// defaultJob sets one completion of one pod, unless the client sets either. A job without labels gets its template's:
// the same map, as upstream. So labels that are added to the template on creation are visible on the job, unless it has
// been copied before (as objects with generateName are).
func defaultJob(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		defaulting.Set(&s.Completions, 1)
	}
	defaulting.Set(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		defaulting.Set(&s.BackoffLimit, math.MaxInt32)
	}
	defaulting.Set(&s.BackoffLimit, 6)
	if t := s.Template.Labels; t != nil && len(j.Labels) == 0 {
		j.Labels = t
	}
	defaulting.Set(&s.CompletionMode, batchv1.NonIndexedCompletion)
	defaulting.Set(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		defaulting.Set(&s.PodReplacementPolicy, batchv1.Failed)
	}
	defaulting.Set(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	defaulting.Set(&s.ManualSelector, false)
	defaultJobSpec(s)
}
