package batch

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func jobColumns() []entry.Column {
	return []entry.Column{
		entry.NameColumn,
		entry.Text("Status", "Status of the job."),
		entry.Text("Completions", batchv1.JobStatus{}.SwaggerDoc()["succeeded"]),
		entry.Text("Duration", "Time required to complete the job."),
		entry.AgeColumn,
		entry.Wide(entry.ContainersColumn),
		entry.Wide(entry.ImagesColumn),
		entry.Wide(entry.Text("Selector", batchv1.JobSpec{}.SwaggerDoc()["selector"])),
	}
}

func jobCells(j *batchv1.Job, now time.Time) []any {
	names, images := entry.ContainersOf(&j.Spec.Template.Spec)
	return []any{
		j.Name,
		jobStatus(j),
		jobCompletions(j),
		jobDuration(j, now),
		entry.AgeOf(&j.ObjectMeta, now),
		names,
		images,
		metav1.FormatLabelSelector(j.Spec.Selector),
	}
}

func jobStatus(j *batchv1.Job) string {
	has := func(t batchv1.JobConditionType) bool {
		for _, c := range j.Status.Conditions {
			if c.Type == t {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
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

// jobCompletions prints a job without completions, which succeeds with any pod, as "/1".
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
