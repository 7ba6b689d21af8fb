package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func jobWarnings(j, old *batchv1.Job) []string {
	texts := podspec.NamesOfNew(j, old == nil)
	if old == nil || j.Generation != old.Generation {
		texts = append(texts, jobSpecWarnings(field.NewPath("spec"), &j.Spec)...)
	}
	return texts
}

// createJob generates a selector by the job's UID, unless the client sets one. A job without labels has its template's,
// including the new ones: it may share the map with the template, see defaultJob.
func createJob(j *batchv1.Job) {
	if !check.ValueOf(j.Spec.ManualSelector) {
		selectByUID(j)
	}
	podspec.DropTemplateFields(&j.Spec.Template, nil)
	dropScheduling(&j.Spec, nil)
	defaultJob(j)
}

// selectByUID labels the template with the job's name and UID, each with its old and its new key, and selects the UID.
// Existing labels are not changed; validation checks them.
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

func updateJob(j, old *batchv1.Job) {
	podspec.DropTemplateFields(&j.Spec.Template, &old.Spec.Template)
	dropScheduling(&j.Spec, &old.Spec)
}

// dropScheduling is for WorkloadWithJob, which is off (V-023).
func dropScheduling(s, old *batchv1.JobSpec) {
	if old == nil || old.Scheduling == nil {
		s.Scheduling = nil
	}
}
