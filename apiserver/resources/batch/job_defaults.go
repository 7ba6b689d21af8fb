package batch

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// defaultJob sets one completion of one pod, unless the client sets either. A job without labels gets its template's:
// the same map, as upstream. So labels that are added to the template on creation are visible on the job, unless it has
// been copied before (as objects with generateName are).
func defaultJob(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		check.SetDefault(&s.Completions, 1)
	}
	check.SetDefault(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		check.SetDefault(&s.BackoffLimit, math.MaxInt32)
	}
	check.SetDefault(&s.BackoffLimit, 6)
	if t := s.Template.Labels; t != nil && len(j.Labels) == 0 {
		j.Labels = t
	}
	check.SetDefault(&s.CompletionMode, batchv1.NonIndexedCompletion)
	check.SetDefault(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		check.SetDefault(&s.PodReplacementPolicy, batchv1.Failed)
	}
	check.SetDefault(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	check.SetDefault(&s.ManualSelector, false)
	defaultJobSpec(s)
}
