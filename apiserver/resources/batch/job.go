package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// jobs is the entry of Job.
func jobs() *entry.Resource {
	return &entry.Resource{
		Plural: "jobs", New: entry.New[batchv1.Job], Namespaced: true,
		Categories: entry.All,
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration,
			Default:        entry.Default(defaultJob),
			PrepareCreate:  entry.Create(createJob),
			PrepareUpdate:  entry.Change(updateJob),
			Validate:       entry.Validate(validateJob),
			ValidateUpdate: entry.ValidateChange(validateJobUpdate),
			Warnings:       entry.Warn(jobWarnings),
		},
		Delete: entry.Deletion{Policy: entry.OrphanDependents, Warning: jobWarning}, // C-23, C-24
		Subresources: []entry.Subresource{
			entry.StatusWith(entry.Subresource{
				ValidateUpdate: entry.ValidateChange(validateJobStatus),
			}),
		},
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "status.successful", Paths: []string{"status.succeeded"}, Unset: "0"}},
			FieldError: "field label %q not supported for Job",
		},
		Table: entry.TableOf(jobColumns(), jobCells),
	}
}

// jobWarning (C-24).
const jobWarning = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// defaultJobSpec sets the defaults of a job's spec, also in the job template of a CronJob.
func defaultJobSpec(s *batchv1.JobSpec) {
	if p := s.PodFailurePolicy; p != nil {
		for i := range p.Rules {
			for j := range p.Rules[i].OnPodConditions {
				check.FillDefault(&p.Rules[i].OnPodConditions[j].Status, corev1.ConditionTrue)
			}
		}
	}
	podspec.DefaultTemplate(&s.Template)
}

func jobSpecWarnings(at *field.Path, s *batchv1.JobSpec) []string {
	var texts []string
	indexed := check.ValueOf(s.CompletionMode) == batchv1.IndexedCompletion
	if indexed && check.ValueOf(s.Completions) > 100_000 && check.ValueOf(s.Parallelism) > 10_000 {
		texts = append(texts, at.String()+
			": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	return append(texts, podspec.TemplateWarnings(at.Child("template"), &s.Template)...)
}
