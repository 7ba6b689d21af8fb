package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// Limits of indexed jobs.
const (
	maxIndexes         = 100_000
	maxWhileManyFailed = 10_000
	maxManagedByLen    = 63
)

// wholeJob validates a job, regardless of its change (batch ValidateJob).
func wholeJob(j, old *batchv1.Job) field.ErrorList {
	errs := generatedSelector(j, old)
	errs = append(errs, jobSelected(&j.Spec, old)...)
	if n := j.Spec.Completions; indexed(&j.Spec) && n != nil && *n > 0 {
		host := fmt.Sprintf("%s-%d", j.Name, *n-1)
		errs = append(errs, check.Reject(len(utilvalidation.IsDNS1123Label(host)) > 0, field.NewPath("metadata", "name"),
			j.Name, "will not able to create pod with invalid DNS label: "+host)...)
	}
	return errs
}

func indexed(s *batchv1.JobSpec) bool {
	return s.CompletionMode != nil && *s.CompletionMode == batchv1.IndexedCompletion
}

// The keys of labels on a job's pods, before Kubernetes introduced keys with a prefix.
const (
	plainUIDLabel  = "controller-uid"
	plainNameLabel = "job-name"
)

// generatedSelector requires the generated labels and selector, unless the client has set its own. Old jobs have no
// prefixed labels.
func generatedSelector(j, old *batchv1.Job) (errs field.ErrorList) {
	if check.IsTrue(j.Spec.ManualSelector) || j.Spec.Selector == nil {
		return nil
	}
	errs = append(errs, check.Present(j.UID != "", field.NewPath("metadata", "uid"), "")...)
	wanted := []struct{ key, value string }{{plainUIDLabel, string(j.UID)}, {plainNameLabel, j.Name}}
	if old == nil || hasLabel(old, batchv1.JobNameLabel) && hasLabel(old, batchv1.ControllerUidLabel) {
		wanted = append(wanted, struct{ key, value string }{batchv1.ControllerUidLabel, string(j.UID)},
			struct{ key, value string }{batchv1.JobNameLabel, j.Name})
	}
	made := labels.Set{}
	at := check.TemplatePath.Child("metadata", "labels")
	for _, w := range wanted {
		made[w.key] = w.value
		text := fmt.Sprintf("must be '%s'", w.value)
		if value, ok := j.Spec.Template.Labels[w.key]; !ok {
			errs = append(errs, field.Required(at.Key(w.key), text))
		} else if value != w.value {
			errs = append(errs, field.Invalid(at.Key(w.key), j.Spec.Template.Labels, text))
		}
	}
	if s, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !s.Matches(made) {
		errs = append(errs, field.Invalid(check.SpecPath.Child("selector"), j.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

func hasLabel(j *batchv1.Job, key string) bool {
	_, ok := j.Spec.Template.Labels[key]
	return ok
}

// jobSelected validates the spec of a job with its selector (batch ValidateJobSpec).
func jobSelected(s *batchv1.JobSpec, old *batchv1.Job) field.ErrorList {
	was := check.ValueOf(old)
	allowInvalid := metavalidation.LabelSelectorHasInvalidLabelValue(was.Spec.Selector)
	errs := jobSpec(s, &was.Spec.Template, check.SpecPath)
	if s.Selector == nil {
		errs = append(errs, check.RequireAll(check.SpecPath, "selector", "")...)
	} else {
		errs = append(errs, podspec.ValidateSelector(s.Selector, allowInvalid, check.SpecPath.Child("selector"))...)
	}
	if usable, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil {
		errs = append(errs, podspec.MatchesSelector(usable, &s.Template, check.TemplatePath)...)
	}
	return errs
}

// jobSpec validates the spec of a job or of a job template (batch validateJobSpec).
func jobSpec(s *batchv1.JobSpec, old *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := check.Naturals(at, "parallelism", s.Parallelism)
	errs = append(errs, check.Naturals(at, "completions", s.Completions)...)
	errs = append(errs, check.Naturals(at, "activeDeadlineSeconds", s.ActiveDeadlineSeconds)...)
	errs = append(errs, check.Naturals(at, "backoffLimit", s.BackoffLimit)...)
	errs = append(errs, check.Naturals(at, "ttlSecondsAfterFinished", s.TTLSecondsAfterFinished)...)
	errs = append(errs, check.Naturals(at, "backoffLimitPerIndex", s.BackoffLimitPerIndex)...)
	errs = append(errs, check.Naturals(at, "maxFailedIndexes", s.MaxFailedIndexes)...)
	errs = append(errs, check.Present(s.MaxFailedIndexes == nil || s.BackoffLimitPerIndex != nil,
		at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified")...)
	if m := s.ManagedBy; m != nil {
		errs = append(errs, utilvalidation.IsDomainPrefixedPath(at.Child("managedBy"), *m)...)
		errs = append(errs, check.MaxBytes(len(*m), maxManagedByLen, at.Child("managedBy"))...)
	}
	errs = append(errs, completion(s, at)...)
	if s.PodFailurePolicy != nil {
		errs = append(errs, failurePolicy(s, at.Child("podFailurePolicy", "rules"))...)
	}
	if s.SuccessPolicy != nil {
		if !indexed(s) {
			errs = append(errs, field.Invalid(at.Child("successPolicy"), *s.SuccessPolicy,
				"requires indexed completion mode"))
		} else {
			errs = append(errs, successPolicy(s, at.Child("successPolicy", "rules"))...)
		}
	}
	if p := s.PodReplacementPolicy; p != nil {
		allowed := []batchv1.PodReplacementPolicy{batchv1.Failed}
		if s.PodFailurePolicy == nil {
			allowed = append(allowed, batchv1.TerminatingOrFailed)
		}
		errs = append(errs, check.OneOf(*p, at.Child("podReplacementPolicy"), allowed)...)
	}
	errs = append(errs, podspec.ValidateTemplate(&s.Template, old, at.Child("template"))...)
	return append(errs, jobRestart(s, at.Child("template", "spec", "restartPolicy"))...)
}

// jobRestart requires a restart policy with which pods end. The default policy, Always, is invalid.
func jobRestart(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch p := s.Template.Spec.RestartPolicy; {
	case p == corev1.RestartPolicyAlways || p == "":
		return field.ErrorList{field.Required(at, `valid values: "OnFailure", "Never"`)}
	case p != corev1.RestartPolicyOnFailure && p != corev1.RestartPolicyNever:
		return field.ErrorList{
			field.NotSupported(at, p, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}),
		}
	case s.PodFailurePolicy != nil && p != corev1.RestartPolicyNever:
		return field.ErrorList{field.Invalid(at, p, `only "Never" is supported when podFailurePolicy is specified`)}
	}
	return nil
}

// completion validates the completion mode and the numbers that depend on it.
func completion(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	errs = check.GivenOneOf(s.CompletionMode, at.Child("completionMode"),
		[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion})
	if indexed(s) {
		return append(errs, indexes(s, at)...)
	}
	if s.CompletionMode != nil && *s.CompletionMode != batchv1.NonIndexedCompletion {
		return errs
	}
	errs = append(errs, check.Reject(s.BackoffLimitPerIndex != nil, at.Child("backoffLimitPerIndex"),
		s.BackoffLimitPerIndex, "requires indexed completion mode")...)
	return append(errs, check.Reject(s.MaxFailedIndexes != nil, at.Child("maxFailedIndexes"), s.MaxFailedIndexes,
		"requires indexed completion mode")...)
}

func indexes(s *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	parallelism, failed := at.Child("parallelism"), at.Child("maxFailedIndexes")
	errs = append(errs, check.Present(s.Completions != nil, at.Child("completions"),
		"when completion mode is Indexed")...)
	errs = append(errs, check.Reject(check.ValueOf(s.Parallelism) > maxIndexes, parallelism, s.Parallelism,
		fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", maxIndexes))...)
	if n := s.MaxFailedIndexes; n != nil {
		errs = append(errs, check.Reject(s.Completions != nil && *n > *s.Completions, failed, n,
			"must be less than or equal to completions")...)
		errs = append(errs, check.Reject(*n > maxIndexes, failed, n,
			fmt.Sprintf("must be less than or equal to %d", maxIndexes))...)
	}
	if s.Completions == nil || *s.Completions <= maxIndexes || s.BackoffLimitPerIndex == nil {
		return errs
	}
	errs = append(errs, check.Present(s.MaxFailedIndexes != nil, failed,
		fmt.Sprintf("must be specified when completions is above %d", maxIndexes))...)
	text := fmt.Sprintf(
		"must be less than or equal to %d when completions are above %d and used with backoff limit per index",
		maxWhileManyFailed, maxIndexes,
	)
	errs = append(errs, check.Reject(check.ValueOf(s.Parallelism) > maxWhileManyFailed, parallelism, s.Parallelism,
		text)...)
	return append(errs, check.Reject(check.ValueOf(s.MaxFailedIndexes) > maxWhileManyFailed, failed, s.MaxFailedIndexes,
		text)...)
}

// validateJob validates a job and then its change. Upstream validates the spec in both steps, so the errors of the spec
// occur twice (job strategy ValidateUpdate).
func validateJob(j, old *batchv1.Job) field.ErrorList {
	errs := wholeJob(j, old)
	if old == nil {
		return errs
	}
	errs = append(errs, jobSelected(&j.Spec, old)...)
	s, was := &j.Spec, &old.Spec
	errs = append(errs, completionsUpdate(s, was, check.SpecPath.Child("completions"))...)
	errs = append(errs, podspec.SameSelector(s.Selector, was.Selector)...)
	errs = append(errs, jobTemplateUpdate(j, old)...)
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"completionMode", s.CompletionMode, was.CompletionMode},
		{"podFailurePolicy", s.PodFailurePolicy, was.PodFailurePolicy},
		{"backoffLimitPerIndex", s.BackoffLimitPerIndex, was.BackoffLimitPerIndex},
		{"managedBy", s.ManagedBy, was.ManagedBy},
		{"successPolicy", s.SuccessPolicy, was.SuccessPolicy},
	} {
		errs = append(errs, check.Immutable(f.now, f.was, check.SpecPath.Child(f.name))...)
	}
	return errs
}

// completionsUpdate allows an indexed job to scale if all its indexes run at once.
func completionsUpdate(s, was *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch {
	case !indexed(s):
		return check.Immutable(s.Completions, was.Completions, at)
	case s.Completions == nil || apiequality.Semantic.DeepEqual(s.Completions, was.Completions):
		return nil
	case s.Parallelism == nil || *s.Completions != *s.Parallelism:
		return field.ErrorList{field.Invalid(
			at, s.Completions, fmt.Sprintf("can only be modified in tandem with %s", at.Root().Child("parallelism").String()),
		)}
	}
	return nil
}

// jobTemplateUpdate makes the template immutable, except for scheduling directives and resources while no pod runs.
func jobTemplateUpdate(j, old *batchv1.Job) field.ErrorList {
	now, was := &j.Spec.Template, old.Spec.Template.DeepCopy()
	if idle(old) {
		followPlacement(&now.Spec, &was.Spec)
		was.Annotations, was.Labels = now.Annotations, now.Labels
		followResources(now.Spec.Containers, was.Spec.Containers)
		followResources(now.Spec.InitContainers, was.Spec.InitContainers)
	}
	return check.Immutable(*now, *was, check.TemplatePath)
}

// idle reports whether a job is suspended and has no pods: it has never started, or its controller has suspended it.
func idle(j *batchv1.Job) bool {
	return check.IsTrue(j.Spec.Suspend) && j.Status.Active == 0 &&
		(j.Status.StartTime == nil || jobHas(j, batchv1.JobSuspended))
}

func followPlacement(now, was *corev1.PodSpec) {
	switch a := was.Affinity; {
	case now.Affinity == nil && a != nil:
		if a.NodeAffinity = nil; *a == (corev1.Affinity{}) {
			was.Affinity = nil
		}
	case now.Affinity != nil && a == nil:
		was.Affinity = &corev1.Affinity{NodeAffinity: now.Affinity.NodeAffinity}
	case now.Affinity != nil:
		a.NodeAffinity = now.Affinity.NodeAffinity
	}
	was.NodeSelector, was.Tolerations, was.SchedulingGates = now.NodeSelector, now.Tolerations, now.SchedulingGates
}

func followResources(now, was []corev1.Container) {
	if len(now) != len(was) {
		return
	}
	for i := range now {
		if now[i].Name == was[i].Name {
			was[i].Resources = now[i].Resources
		}
	}
}
