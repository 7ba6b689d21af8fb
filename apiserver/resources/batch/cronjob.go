package batch

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func cronJobs() *entry.Resource {
	return &entry.Resource{
		Plural: "cronjobs", New: entry.New[batchv1.CronJob], Namespaced: true,
		ShortNames: []string{"cj"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultCronJob),
			Prepare:    entry.Change(prepareCronJob),
			Validate:   entry.ValidateChange(validateCronJob),
			Warnings:   entry.Warn(cronJobWarnings),
		},
		Subresources: []entry.Subresource{entry.StatusWith(entry.Subresource{})},
		Table:        cronJobTable(),
	}
}

// defaultCronJob allows concurrent jobs and keeps three successful and one failed job.
func defaultCronJob(c *batchv1.CronJob) {
	check.FillDefault(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	check.SetDefault(&c.Spec.Suspend, false)
	check.SetDefault(&c.Spec.SuccessfulJobsHistoryLimit, 3)
	check.SetDefault(&c.Spec.FailedJobsHistoryLimit, 1)
	defaultJobSpec(&c.Spec.JobTemplate.Spec)
}

func cronJobWarnings(c, old *batchv1.CronJob) []string {
	texts := podspec.NamesOfNew(c, old == nil)
	if old == nil || c.Generation != old.Generation {
		texts = append(texts, jobSpecWarnings(field.NewPath("spec", "jobTemplate", "spec"), &c.Spec.JobTemplate.Spec)...)
	}
	if old != nil && strings.Contains(c.Spec.Schedule, "TZ") {
		texts = append(texts, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "+
			"https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return texts
}

func prepareCronJob(c, old *batchv1.CronJob) {
	dropJobFields(&c.Spec.JobTemplate.Spec, check.ValueOf(old).Spec.JobTemplate.Spec)
}

// maxCronJobName is the maximum length of a name. It leaves space for a timestamp in the names of jobs.
const maxCronJobName = 52

func validateCronJob(c, before *batchv1.CronJob) (errs field.ErrorList) {
	s, old := &c.Spec, check.ValueOf(before).Spec
	if s.Schedule != "" {
		zoned := strings.Contains(old.Schedule, "TZ")
		errs = append(errs, schedule(s.Schedule, zoned, s.TimeZone != nil, check.SpecPath.Child("schedule"))...)
	}
	errs = append(errs, check.Naturals(check.SpecPath, "startingDeadlineSeconds", s.StartingDeadlineSeconds)...)
	if before == nil || !check.SamePointee(old.TimeZone, s.TimeZone) {
		errs = append(errs, check.Optional(s.TimeZone, check.SpecPath.Child("timeZone"), timeZone)...)
	}
	errs = append(errs, check.Required(s.ConcurrencyPolicy, check.SpecPath.Child("concurrencyPolicy"),
		[]batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent})...)
	errs = append(errs, jobTemplate(&s.JobTemplate.Spec, &old.JobTemplate.Spec.Template,
		check.SpecPath.Child("jobTemplate", "spec"))...)
	errs = append(errs, check.Naturals(check.SpecPath, "successfulJobsHistoryLimit", s.SuccessfulJobsHistoryLimit)...)
	errs = append(errs, check.Naturals(check.SpecPath, "failedJobsHistoryLimit", s.FailedJobsHistoryLimit)...)
	return append(errs, check.Reject(before == nil && len(c.Name) > maxCronJobName, field.NewPath("metadata", "name"),
		c.Name, "must be no more than 52 characters")...)
}

// jobTemplate validates the spec of jobs for which a selector will be generated.
func jobTemplate(s *batchv1.JobSpec, old *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := jobSpec(s, old, at)
	errs = append(errs, check.Reject(s.Selector != nil, at.Child("selector"), s.Selector,
		"`selector` will be auto-generated")...)
	if check.IsTrue(s.ManualSelector) {
		errs = append(errs, field.NotSupported(at.Child("manualSelector"), s.ManualSelector, []string{"nil", "false"}))
	}
	return errs
}

// schedule requires five fields or a macro. A time zone in the schedule is allowed only if the old schedule had one
// (zoned) and the field timeZone is not set (named).
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

// parseSchedule returns the parser's error, which clients see. The parser panics on a time zone without a schedule;
// kube-apiserver then fails the request.
func parseSchedule(text string) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("expected exactly 5 fields, found 0: []")
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zonePart matches a component of a time zone's name. Digits and plus signs occur in deprecated names.
var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func timeZone(name *string, at *field.Path) (errs field.ErrorList) {
	if *name == "" {
		return field.ErrorList{field.Invalid(at, name, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*name, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(at, name, "unknown time zone "+*name)}
		}
	}
	errs = append(errs, check.Reject(strings.EqualFold(*name, "Local"), at, name,
		"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")...)
	if _, err := time.LoadLocation(*name); err != nil {
		errs = append(errs, field.Invalid(at, name, err.Error()))
	}
	return errs
}

func cronJobTable() entry.Table {
	spec, status := batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()
	columns := append([]entry.Column{
		entry.NameColumn,
		entry.Text("Schedule", spec["schedule"]),
		entry.Text("Timezone", spec["timeZone"]),
		entry.Boolean("Suspend", spec["suspend"]),
		entry.Integer("Active", status["active"]),
		entry.Text("Last Schedule", status["lastScheduleTime"]),
		entry.AgeColumn,
	}, entry.PodColumns(batchv1.JobSpec{}.SwaggerDoc()["selector"])...)
	return entry.TableOf(columns, func(c *batchv1.CronJob, now time.Time) []any {
		job, last := &c.Spec.JobTemplate.Spec, entry.None
		if c.Status.LastScheduleTime != nil {
			last = entry.Age(c.Status.LastScheduleTime.Time, now)
		}
		return append([]any{
			c.Name, c.Spec.Schedule, entry.ValueOr(c.Spec.TimeZone, entry.None),
			truth(c.Spec.Suspend), // a string, although its column is boolean
			int64(len(c.Status.Active)), last, entry.AgeOf(&c.ObjectMeta, now),
		}, entry.PodCells(&job.Template.Spec, metav1.FormatLabelSelector(job.Selector))...)
	})
}

// truth returns a boolean as a string for a cell.
func truth(b *bool) string {
	switch {
	case b == nil:
		return entry.Unset
	case *b:
		return "True"
	default:
		return "False"
	}
}
