package batch

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// defaultJob sets one completion of one pod, unless the client sets either. A job without labels gets its template's:
// the same map, as upstream. So labels that are added to the template on creation are visible on the job, unless it has
// been copied before (as objects with generateName are).
func defaultJob(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		entry.SetDefault(&s.Completions, 1)
	}
	entry.SetDefault(&s.Parallelism, 1)
	if s.BackoffLimitPerIndex != nil {
		entry.SetDefault(&s.BackoffLimit, math.MaxInt32)
	}
	entry.SetDefault(&s.BackoffLimit, 6)
	if t := s.Template.Labels; t != nil && len(j.Labels) == 0 {
		j.Labels = t
	}
	entry.SetDefault(&s.CompletionMode, batchv1.NonIndexedCompletion)
	entry.SetDefault(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		entry.SetDefault(&s.PodReplacementPolicy, batchv1.Failed)
	}
	entry.SetDefault(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	entry.SetDefault(&s.ManualSelector, false)
	defaultJobSpec(s)
}
