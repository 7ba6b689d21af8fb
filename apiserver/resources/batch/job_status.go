package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func jobHas(j *batchv1.Job, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

func jobFinished(j *batchv1.Job) bool {
	return jobHas(j, batchv1.JobComplete) || jobHas(j, batchv1.JobFailed)
}

// jobRule is a rule for a status. It applies only if its fields have changed, because a change of the spec can make a
// status invalid until the controller updates it (job strategy getStatusValidationOptions).
type jobRule struct {
	counts, broken bool
	// name and value are those of the field in the error. A nil value means that the field is missing.
	name  string
	value any
	text  string
}

func brokenRules(rules []jobRule) (errs field.ErrorList) {
	for _, r := range rules {
		switch {
		case !r.counts || !r.broken:
		case r.value == nil:
			errs = append(errs, field.Required(check.StatusPath.Child(r.name), r.text))
		default:
			errs = append(errs, field.Invalid(check.StatusPath.Child(r.name), r.value, r.text))
		}
	}
	return errs
}

// validateJobStatus validates an update of a job's status (batch ValidateJobStatusUpdate).
func validateJobStatus(j, old *batchv1.Job) field.ErrorList {
	errs := jobNumbers(&j.Status)
	errs = append(errs, brokenRules(jobEnd(j, old))...)
	errs = append(errs, brokenRules(jobIndexes(j, old))...)
	errs = append(errs, brokenRules(jobSuccess(j))...)
	return append(errs, brokenRules(jobChange(j, old))...)
}

func jobNumbers(s *batchv1.JobStatus) field.ErrorList {
	errs := podspec.Counts(
		0, []podspec.Count{{Name: "active", N: s.Active}, {Name: "succeeded", N: s.Succeeded}, {Name: "failed", N: s.Failed}},
		nil,
	)
	errs = append(errs, check.Naturals(check.StatusPath, "ready", s.Ready)...)
	errs = append(errs, check.Naturals(check.StatusPath, "terminating", s.Terminating)...)
	if s.UncountedTerminatedPods == nil {
		return errs
	}
	seen := map[types.UID]bool{}
	at := check.StatusPath.Child("uncountedTerminatedPods")
	errs = append(errs, uncounted(s.UncountedTerminatedPods.Succeeded, seen, at.Child("succeeded"))...)
	return append(errs, uncounted(s.UncountedTerminatedPods.Failed, seen, at.Child("failed"))...)
}

func uncounted(list []types.UID, seen map[types.UID]bool, at *field.Path) (errs field.ErrorList) {
	for i, uid := range list {
		switch {
		case uid == "":
			errs = append(errs, field.Invalid(at.Index(i), uid, "must not be empty"))
		case seen[uid]:
			errs = append(errs, field.Duplicate(at.Index(i), uid))
		}
		seen[uid] = true
	}
	return errs
}

// omitted is the value of conditions in errors, which do not print them.
var omitted = field.OmitValueType{}

// changed reports whether a condition differs from the old one.
func changed(j, old *batchv1.Job, kind batchv1.JobConditionType) bool {
	return jobHas(j, kind) != jobHas(old, kind)
}

// jobEnd returns the rules for finished jobs.
func jobEnd(j, old *batchv1.Job) []jobRule {
	s, was := &j.Status, &old.Status
	complete, failed, finished := jobHas(j, batchv1.JobComplete), jobHas(j, batchv1.JobFailed), jobFinished(j)
	completeChanged, failedChanged := changed(j, old, batchv1.JobComplete), changed(j, old, batchv1.JobFailed)
	finishedChanged := finished != jobFinished(old)
	started, ended := !s.StartTime.Equal(was.StartTime), !s.CompletionTime.Equal(was.CompletionTime)
	empty := check.IsTrue(j.Spec.Suspend) && j.Spec.Completions != nil && *j.Spec.Completions == 0
	left := s.UncountedTerminatedPods
	return []jobRule{
		{completeChanged || failedChanged, complete && failed,
			"conditions", omitted, "cannot set Complete=True and Failed=true conditions"},
		{completeChanged || changed(j, old, batchv1.JobFailureTarget), complete && jobHas(j, batchv1.JobFailureTarget),
			"conditions", omitted, "cannot set Complete=True and FailureTarget=true conditions"},
		{completeChanged || ended, s.CompletionTime != nil && !complete,
			"completionTime", s.CompletionTime, "cannot set completionTime when there is no Complete=True condition"},
		{completeChanged || ended, s.CompletionTime == nil && complete,
			"completionTime", nil, "completionTime is required for Complete jobs"},
		{started || ended, s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime),
			"completionTime", s.CompletionTime, "must be equal to or after `startTime`"},
		{failedChanged || !check.SamePointee(s.FailedIndexes, was.FailedIndexes),
			failed && !jobHas(j, batchv1.JobFailureTarget),
			"conditions", omitted, "cannot set Failed=True condition without the FailureTarget=true condition"},
		{completeChanged || changed(j, old, batchv1.JobSuccessCriteriaMet),
			complete && !jobHas(j, batchv1.JobSuccessCriteriaMet),
			"conditions", omitted, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"},
		{finishedChanged || s.Active != was.Active, finished && s.Active > 0,
			"active", s.Active, "active>0 is invalid for finished job"},
		{(finishedChanged || started) && !empty, finished && s.StartTime == nil,
			"startTime", nil, "startTime is required for finished job"},
		{finishedChanged || !apiequality.Semantic.DeepEqual(left, was.UncountedTerminatedPods),
			finished && left != nil && len(left.Failed)+len(left.Succeeded) > 0,
			"uncountedTerminatedPods", left, "must be empty for finished job"},
	}
}

// jobIndexes returns the rules for completed and failed indexes, and for the number of active pods.
func jobIndexes(j, old *batchv1.Job) []jobRule {
	s, was := &j.Status, &old.Status
	completedChanged, failedChanged := s.CompletedIndexes != was.CompletedIndexes, !check.SamePointee(
		s.FailedIndexes, was.FailedIndexes,
	)
	var completed, failed, both error
	failedText := check.ValueOf(s.FailedIndexes)
	if n := j.Spec.Completions; n != nil {
		_, completed = parseIndexes(s.CompletedIndexes, *n)
		if j.Spec.BackoffLimitPerIndex != nil {
			_, failed = parseIndexes(failedText, *n)
		}
		both = overlap(s.CompletedIndexes, failedText, *n)
	}
	finished := jobFinished(j)
	activeChanged, readyChanged := s.Active != was.Active, !check.SamePointee(s.Ready, was.Ready)
	ready := check.ValueOf(s.Ready)
	return []jobRule{
		{completedChanged, completed != nil,
			"completedIndexes", s.CompletedIndexes, fmt.Sprintf("error parsing completedIndexes: %v", completed)},
		{failedChanged, failed != nil,
			"failedIndexes", s.FailedIndexes, fmt.Sprintf("error parsing failedIndexes: %v", failed)},
		{completedChanged, s.CompletedIndexes != "" && !indexed(&j.Spec),
			"completedIndexes", s.CompletedIndexes,
			"cannot set non-empty completedIndexes when non-indexed completion mode"},
		{failedChanged, s.FailedIndexes != nil && j.Spec.BackoffLimitPerIndex == nil,
			"failedIndexes", failedText, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"},
		{failedChanged || completedChanged, both != nil, "failedIndexes", failedText, fmt.Sprint(both)},
		{finished != jobFinished(old) || !check.SamePointee(s.Terminating, was.Terminating),
			finished && s.Terminating != nil && *s.Terminating > 0,
			"terminating", s.Terminating, "terminating>0 is invalid for finished job"},
		{readyChanged || activeChanged, s.Ready != nil && ready > s.Active,
			"ready", ready, "cannot set more ready pods than active"},
	}
}

// jobSuccess returns the rules for success criteria. They always apply.
func jobSuccess(j *batchv1.Job) []jobRule {
	met := jobHas(j, batchv1.JobSuccessCriteriaMet)
	return []jobRule{
		{true, met && jobHas(j, batchv1.JobFailed),
			"conditions", omitted, "cannot set SuccessCriteriaMet=True and Failed=true conditions"},
		{true, met && jobHas(j, batchv1.JobFailureTarget),
			"conditions", omitted, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
		{true, j.Spec.SuccessPolicy != nil && !met && jobHas(j, batchv1.JobComplete),
			"conditions", omitted, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"},
	}
}

// jobChange returns the rules that reject the removal of a condition, a lower counter, and a new time.
func jobChange(j, old *batchv1.Job) (rules []jobRule) {
	s, was := &j.Status, &old.Status
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		rules = append(rules, jobRule{true, jobHas(old, kind) && !jobHas(j, kind),
			"conditions", omitted, fmt.Sprintf("cannot disable the terminal %s=True condition", kind)})
	}
	shrinks := indexed(&j.Spec) && check.SamePointee(j.Spec.Completions, j.Spec.Parallelism)
	met, wasMet := jobHas(j, batchv1.JobSuccessCriteriaMet), jobHas(old, batchv1.JobSuccessCriteriaMet)
	return append(rules,
		jobRule{true, s.Failed < was.Failed, "failed", s.Failed, "cannot decrease the failed counter"},
		jobRule{
			!shrinks, s.Succeeded < was.Succeeded, "succeeded", s.Succeeded, "cannot decrease the succeeded counter",
		},
		jobRule{true, s.CompletionTime != nil && was.CompletionTime != nil && !s.CompletionTime.Equal(was.CompletionTime),
			"completionTime", s.CompletionTime, "field is immutable"},
		jobRule{true, was.StartTime != nil && !s.StartTime.Equal(was.StartTime) && !check.IsTrue(j.Spec.Suspend),
			"startTime", s.StartTime, "field is immutable for unsuspended job once set"},
		jobRule{true, wasMet && !met, "conditions", omitted, "cannot disable the SuccessCriteriaMet=True condition"},
		jobRule{true, jobHas(old, batchv1.JobComplete) && !wasMet && met,
			"conditions", omitted, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"},
	)
}
