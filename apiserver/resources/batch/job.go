package batch

import (
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func jobs() *entry.Resource {
	return &entry.Resource{
		Plural: "jobs", New: entry.New[batchv1.Job], Namespaced: true,
		Categories: entry.All,
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultJob),
			Prepare:    entry.Prepare(createJob, updateJob),
			Validate:   entry.ValidateChange(validateJob),
			Warnings:   entry.Warn(jobWarnings),
		},
		Delete:       entry.Deletion{Policy: entry.OrphanDependents, Warning: jobWarning}, // C-23, C-24
		Subresources: entry.StatusOf(nil, validateJobStatus),
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "status.successful", Paths: []string{"status.succeeded"}, Unset: "0"}},
			FieldError: "field label %q not supported for Job",
		},
		Table: jobTable(),
	}
}

// jobWarning is the warning for a DELETE without a policy (C-24).
const jobWarning = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// defaultJob sets one completion of one pod, unless the client sets either. A job without labels gets its template's
// labels. As in upstream, both share one map: labels that creation adds to the template also appear on the job. This
// does not hold for a job that was copied before, such as one with generateName.
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

func jobWarnings(j, old *batchv1.Job) []string {
	texts := podspec.NamesOfNew(j, old == nil)
	if old == nil || j.Generation != old.Generation {
		texts = append(texts, jobSpecWarnings(field.NewPath("spec"), &j.Spec)...)
	}
	return texts
}

func jobSpecWarnings(at *field.Path, s *batchv1.JobSpec) []string {
	var texts []string
	indexed := check.ValueOf(s.CompletionMode) == batchv1.IndexedCompletion
	if indexed && check.ValueOf(s.Completions) > 100_000 && check.ValueOf(s.Parallelism) > 10_000 {
		texts = append(texts, at.String()+
			": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	return append(texts, podspec.SpecWarnings(at.Child("template"), &s.Template.Spec, &s.Template.ObjectMeta)...)
}

// createJob generates a selector from the job's UID, unless the client sets one. A job without labels also gets the
// template's new labels if it shares the map with the template: see defaultJob.
func createJob(j *batchv1.Job) {
	if !check.ValueOf(j.Spec.ManualSelector) {
		selectByUID(j)
	}
	dropJobFields(&j.Spec, batchv1.JobSpec{})
	defaultJob(j)
}

// selectByUID adds labels with the job's name and UID to the template, each under its old and its new key, and selects
// the UID. It does not change existing labels; validation checks them.
func selectByUID(j *batchv1.Job) {
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = map[string]string{}
	}
	for _, key := range []string{"job-name", batchv1.JobNameLabel} {
		add(j.Spec.Template.Labels, key, j.Name)
	}
	for _, key := range []string{"controller-uid", batchv1.ControllerUidLabel} {
		add(j.Spec.Template.Labels, key, string(j.UID))
	}
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if j.Spec.Selector.MatchLabels == nil {
		j.Spec.Selector.MatchLabels = map[string]string{}
	}
	add(j.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, string(j.UID))
}

func add(m map[string]string, key, value string) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}

func updateJob(j, old *batchv1.Job) { dropJobFields(&j.Spec, old.Spec) }

// dropJobFields removes the fields of feature gates that are off: those of templates, and scheduling, which the gate
// WorkloadWithJob adds (V-023).
func dropJobFields(s *batchv1.JobSpec, old batchv1.JobSpec) {
	podspec.DropTemplateFields(&s.Template, &old.Template)
	if old.Scheduling == nil {
		s.Scheduling = nil
	}
}

func jobTable() entry.Table {
	columns := append([]entry.Column{
		entry.NameColumn,
		entry.Text("Status", "Status of the job."),
		entry.Text("Completions", batchv1.JobStatus{}.SwaggerDoc()["succeeded"]),
		entry.Text("Duration", "Time required to complete the job."),
		entry.AgeColumn,
	}, entry.PodColumns(batchv1.JobSpec{}.SwaggerDoc()["selector"])...)
	return entry.TableOf(columns, func(j *batchv1.Job, now time.Time) []any {
		return append([]any{
			j.Name, jobStatus(j), jobCompletions(j), jobDuration(j, now), entry.AgeOf(&j.ObjectMeta, now),
		}, entry.PodCells(&j.Spec.Template.Spec, metav1.FormatLabelSelector(j.Spec.Selector))...)
	})
}

func jobStatus(j *batchv1.Job) string {
	has := func(t batchv1.JobConditionType) bool {
		first := slices.IndexFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == t })
		return first >= 0 && j.Status.Conditions[first].Status == corev1.ConditionTrue
	}
	switch {
	case has(batchv1.JobComplete):
		return "Complete"
	case has(batchv1.JobFailed):
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case has(batchv1.JobSuspended):
		return "Suspended"
	case has(batchv1.JobFailureTarget):
		return "FailureTarget"
	case has(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

// jobCompletions returns the cell of the column Completions. A job without completions, which succeeds with any pod,
// has "/1".
func jobCompletions(j *batchv1.Job) string {
	if j.Spec.Completions != nil {
		return fmt.Sprintf("%d/%d", j.Status.Succeeded, *j.Spec.Completions)
	}
	if parallelism := entry.ValueOr(j.Spec.Parallelism, 0); parallelism > 1 {
		return fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, parallelism)
	}
	return fmt.Sprintf("%d/1", j.Status.Succeeded)
}

func jobDuration(j *batchv1.Job, now time.Time) string {
	start, end := j.Status.StartTime, j.Status.CompletionTime
	switch {
	case start == nil:
		return ""
	case end == nil:
		return duration.HumanDuration(now.Sub(start.Time))
	default:
		return duration.HumanDuration(end.Sub(start.Time))
	}
}
