package validation

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxCronJobName leaves room in a job's name for the time that it is made for.
const maxCronJobName = 52

func cronJob(c *batchv1.CronJob) field.ErrorList {
	errs := cronJobSpec(&c.Spec, nil)
	if len(c.Name) > maxCronJobName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

func cronJobUpdate(c, old *batchv1.CronJob) field.ErrorList { return cronJobSpec(&c.Spec, &old.Spec) }

func cronJobSpec(s, old *batchv1.CronJobSpec) (errs field.ErrorList) {
	at := specPath.Child("schedule")
	if s.Schedule == "" {
		errs = append(errs, field.Required(at, ""))
	} else {
		zoned := old != nil && strings.Contains(old.Schedule, "TZ")
		errs = append(errs, schedule(s.Schedule, zoned, s.TimeZone != nil, at)...)
	}
	errs = append(errs, naturals(specPath, "startingDeadlineSeconds", s.StartingDeadlineSeconds)...)
	if old == nil || !same(old.TimeZone, s.TimeZone) {
		errs = append(errs, timeZone(s.TimeZone, specPath.Child("timeZone"))...)
	}
	errs = append(errs, required(s.ConcurrencyPolicy, specPath.Child("concurrencyPolicy"),
		[]batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent})...)
	var before *corev1.PodTemplateSpec
	if old != nil {
		before = &old.JobTemplate.Spec.Template
	}
	errs = append(errs, jobTemplate(&s.JobTemplate.Spec, before, specPath.Child("jobTemplate", "spec"))...)
	errs = append(errs, naturals(specPath, "successfulJobsHistoryLimit", s.SuccessfulJobsHistoryLimit)...)
	return append(errs, naturals(specPath, "failedJobsHistoryLimit", s.FailedJobsHistoryLimit)...)
}

// jobTemplate judges the spec of jobs whose selectors will be made.
func jobTemplate(s *batchv1.JobSpec, old *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := jobSpec(s, old, at)
	if s.Selector != nil {
		errs = append(errs, field.Invalid(at.Child("selector"), s.Selector, "`selector` will be auto-generated"))
	}
	if is(s.ManualSelector) {
		errs = append(errs, field.NotSupported(at.Child("manualSelector"), s.ManualSelector, []string{"nil", "false"}))
	}
	return errs
}

// schedule wants five fields or a word for them. A time zone in it is for those who had one there
// before (zoned), and don't name it otherwise too (named).
func schedule(text string, zoned, named bool, at *field.Path) (errs field.ErrorList) {
	if err := parseSchedule(text); err != nil {
		errs = append(errs, field.Invalid(at, text, err.Error()))
	}
	switch has := strings.Contains(text, "TZ"); {
	case has && zoned && named:
		errs = append(errs, field.Invalid(at, text, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	case has && !zoned:
		errs = append(errs, field.Invalid(at, text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	return errs
}

// parseSchedule is the parser, whose texts clients see. It panics on a time zone with nothing behind
// it, where the real server fails the request.
func parseSchedule(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("expected exactly 5 fields, found 0: []")
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zonePart is a component of a time zone's name. Digits and plus signs are for names of old.
var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func timeZone(name *string, at *field.Path) (errs field.ErrorList) {
	if name == nil {
		return nil
	}
	if *name == "" {
		return field.ErrorList{field.Invalid(at, name, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*name, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(at, name, "unknown time zone "+*name)}
		}
	}
	if strings.EqualFold(*name, "Local") {
		errs = append(errs, field.Invalid(at, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*name); err != nil {
		errs = append(errs, field.Invalid(at, name, err.Error()))
	}
	return errs
}
