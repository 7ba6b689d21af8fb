package prepare

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
)

func createPodTemplate(t *corev1.PodTemplate) { dropTemplateFields(&t.Template, nil) }

func updatePodTemplate(t, old *corev1.PodTemplate) { dropTemplateFields(&t.Template, &old.Template) }

func createController(c *corev1.ReplicationController) { dropTemplateFields(c.Spec.Template, nil) }

func updateController(c, old *corev1.ReplicationController) {
	dropTemplateFields(c.Spec.Template, old.Spec.Template)
}

func createReplicaSet(r *appsv1.ReplicaSet) { dropTemplateFields(&r.Spec.Template, nil) }

func updateReplicaSet(r, old *appsv1.ReplicaSet) {
	dropTemplateFields(&r.Spec.Template, &old.Spec.Template)
}

func createDeployment(d *appsv1.Deployment) { dropTemplateFields(&d.Spec.Template, nil) }

func updateDeployment(d, old *appsv1.Deployment) {
	dropTemplateFields(&d.Spec.Template, &old.Spec.Template)
}

// deploymentStatus keeps labels (B-41).
func deploymentStatus(d, old *appsv1.Deployment) { d.Labels = old.Labels }

// createDaemonSet begins to count generations of the template (B-32), from where a client says.
// What is a field of upstream's internal type is this annotation in apps/v1.
func createDaemonSet(d *appsv1.DaemonSet) {
	dropTemplateFields(&d.Spec.Template, nil)
	setTemplateGeneration(d, max(1, templateGeneration(d)))
}

func updateDaemonSet(d, old *appsv1.DaemonSet) {
	dropTemplateFields(&d.Spec.Template, &old.Spec.Template)
	generation := templateGeneration(old)
	if !apiequality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template) {
		generation++
	}
	setTemplateGeneration(d, generation)
}

// daemonSetStatus keeps the template's generation, which upstream counts to the spec.
func daemonSetStatus(d, old *appsv1.DaemonSet) { setTemplateGeneration(d, templateGeneration(old)) }

func templateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func setTemplateGeneration(d *appsv1.DaemonSet, n int64) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n, 10)
}

func createStatefulSet(s *appsv1.StatefulSet) {
	dropMaxUnavailable(s, nil)
	dropTemplateFields(&s.Spec.Template, nil)
}

func updateStatefulSet(s, old *appsv1.StatefulSet) {
	dropMaxUnavailable(s, old.Spec.UpdateStrategy.RollingUpdate)
	dropTemplateFields(&s.Spec.Template, &old.Spec.Template)
}

// dropMaxUnavailable is for MaxUnavailableStatefulSet.
func dropMaxUnavailable(s *appsv1.StatefulSet, old *appsv1.RollingUpdateStatefulSetStrategy) {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && (old == nil || old.MaxUnavailable == nil) {
		r.MaxUnavailable = nil
	}
}

func createCronJob(c *batchv1.CronJob) { dropTemplateFields(&c.Spec.JobTemplate.Spec.Template, nil) }

func updateCronJob(c, old *batchv1.CronJob) {
	dropTemplateFields(&c.Spec.JobTemplate.Spec.Template, &old.Spec.JobTemplate.Spec.Template)
}

// createJob selects the job's pods by its uid, unless the client selects itself. A job without
// labels of its own shows its template's, these too: it may share the map with the template, see
// defaults.Job.
func createJob(j *batchv1.Job) {
	if !value(j.Spec.ManualSelector) {
		selectByUID(j)
	}
	dropTemplateFields(&j.Spec.Template, nil)
	defaults.Job(j)
}

// selectByUID labels the template with the job's name and uid, each under its old and its new key,
// and selects the uid. Labels that are there stay, for validation to judge.
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

func updateJob(j, old *batchv1.Job) { dropTemplateFields(&j.Spec.Template, &old.Spec.Template) }
