package prepare

import (
	"crypto/tls"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// deprecatedLabels are node labels with what is said of them (pkg/api/node/util.go).
var deprecatedLabels = map[string]string{
	"beta.kubernetes.io/arch":                  `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                    `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region": `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":   `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":         `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
}

// termWarnings are about labels in a term; values are judged where validation doesn't do it.
func termWarnings(at *field.Path, t *corev1.NodeSelectorTerm, values bool) []string {
	var texts []string
	for i, e := range t.MatchExpressions {
		path := at.Child("matchExpressions").Index(i)
		if why, ok := deprecatedLabels[e.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", path.Child("key"), e.Key, why))
		}
		if !values {
			continue
		}
		for j, v := range e.Values {
			for _, msg := range validation.IsValidLabelValue(v) {
				texts = append(texts, fmt.Sprintf("%s: %s is invalid, %s", path.Child("values").Index(j), v, msg))
			}
		}
	}
	return texts
}

const podNames = "Pod names and hostnames"

// ofTemplate warns of a template when it is new or its object's spec has changed.
func ofTemplate(obj, old metav1.Object, isNew bool, at *field.Path, t *corev1.PodTemplateSpec) []string {
	if !isNew && obj.GetGeneration() == old.GetGeneration() {
		return nil
	}
	return templateWarnings(at, t)
}

var specTemplate = field.NewPath("spec", "template")

func podTemplateWarnings(t, old *corev1.PodTemplate) []string {
	return ofTemplate(t, old, old == nil, field.NewPath("template"), &t.Template)
}

func controllerWarnings(c, old *corev1.ReplicationController) []string {
	texts := namesOfNew(c, old == nil)
	return append(texts, ofTemplate(c, old, old == nil, field.NewPath("template"), c.Spec.Template)...)
}

func namesOfNew(obj metav1.Object, isNew bool) []string {
	if !isNew {
		return nil
	}
	return nameWarnings(podNames, obj.GetName())
}

func replicaSetWarnings(r, old *appsv1.ReplicaSet) []string {
	return append(namesOfNew(r, old == nil), ofTemplate(r, old, old == nil, specTemplate, &r.Spec.Template)...)
}

func deploymentWarnings(d, old *appsv1.Deployment) []string {
	return append(namesOfNew(d, old == nil), ofTemplate(d, old, old == nil, specTemplate, &d.Spec.Template)...)
}

func daemonSetWarnings(d, old *appsv1.DaemonSet) []string {
	return ofTemplate(d, old, old == nil, specTemplate, &d.Spec.Template)
}

func statefulSetWarnings(s, old *appsv1.StatefulSet) []string {
	texts := ofTemplate(s, old, old == nil, specTemplate, &s.Spec.Template)
	for i := range s.Spec.VolumeClaimTemplates {
		at := field.NewPath("spec", "volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec") // upstream's paths differ between create and update
		}
		texts = append(texts, claimSpecWarnings(at, &s.Spec.VolumeClaimTemplates[i].Spec)...)
	}
	if value(s.Spec.RevisionHistoryLimit) < 0 {
		texts = append(texts, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return texts
}

func jobWarnings(j, old *batchv1.Job) []string {
	texts := namesOfNew(j, old == nil)
	if old == nil || j.Generation != old.Generation {
		texts = append(texts, jobSpecWarnings(field.NewPath("spec"), &j.Spec)...)
	}
	return texts
}

func cronJobWarnings(c, old *batchv1.CronJob) []string {
	texts := namesOfNew(c, old == nil)
	if old == nil || c.Generation != old.Generation {
		texts = append(texts, jobSpecWarnings(field.NewPath("spec", "jobTemplate", "spec"), &c.Spec.JobTemplate.Spec)...)
	}
	if old != nil && strings.Contains(c.Spec.Schedule, "TZ") {
		texts = append(texts, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return texts
}

func jobSpecWarnings(at *field.Path, s *batchv1.JobSpec) []string {
	var texts []string
	indexed := value(s.CompletionMode) == batchv1.IndexedCompletion
	if indexed && value(s.Completions) > 100_000 && value(s.Parallelism) > 10_000 {
		texts = append(texts, at.String()+": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail")
	}
	return append(texts, templateWarnings(at.Child("template"), &s.Template)...)
}

const storageClassAnnotation = `%s: deprecated since v1.8; use "storageClassName" attribute instead`

func claimWarnings(c, _ *corev1.PersistentVolumeClaim) []string {
	return append(classWarnings(c.Annotations), claimSpecWarnings(field.NewPath("spec"), &c.Spec)...)
}

func classWarnings(annotations map[string]string) []string {
	if _, ok := annotations[corev1.BetaStorageClassAnnotation]; !ok {
		return nil
	}
	return []string{fmt.Sprintf(storageClassAnnotation, field.NewPath("metadata", "annotations").Key(corev1.BetaStorageClassAnnotation))}
}

func claimSpecWarnings(at *field.Path, s *corev1.PersistentVolumeClaimSpec) []string {
	texts := fractionWarnings(at.Child("resources", "requests"), s.Resources.Requests, corev1.ResourceStorage)
	return append(texts, fractionWarnings(at.Child("resources", "limits"), s.Resources.Limits, corev1.ResourceStorage)...)
}

// mountOptions was the annotation of volumes before the field.
const mountOptions = "volume.beta.kubernetes.io/mount-options"

func volumeWarnings(v, _ *corev1.PersistentVolume) []string {
	texts := classWarnings(v.Annotations)
	if _, ok := v.Annotations[mountOptions]; ok {
		texts = append(texts, fmt.Sprintf(`%s: deprecated since v1.31; use "mountOptions" attribute instead`,
			field.NewPath("metadata", "annotations").Key(mountOptions)))
	}
	if v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		texts = append(texts, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		for i := range a.Required.NodeSelectorTerms {
			at := field.NewPath("spec", "nodeAffinity", "required", "nodeSelectorTerms").Index(i)
			texts = append(texts, termWarnings(at, &a.Required.NodeSelectorTerms[i], false)...)
		}
	}
	for _, p := range []struct {
		used      bool
		name, why string
	}{
		{v.Spec.CephFS != nil, "cephfs", "v1.28, non-functional in v1.31+"},
		{v.Spec.PhotonPersistentDisk != nil, "photonPersistentDisk", "v1.11, non-functional in v1.16+"},
		{v.Spec.ScaleIO != nil, "scaleIO", "v1.16, non-functional in v1.22+"},
		{v.Spec.StorageOS != nil, "storageOS", "v1.22, non-functional in v1.25+"},
		{v.Spec.Glusterfs != nil, "glusterfs", "v1.25, non-functional in v1.26+"},
		{v.Spec.RBD != nil, "rbd", "v1.28, non-functional in v1.31+"},
	} {
		if p.used {
			texts = append(texts, fmt.Sprintf("spec.%s: deprecated in %s", p.name, p.why))
		}
	}
	return texts
}

func storageClassWarnings(c, _ *storagev1.StorageClass) []string {
	var texts []string
	for i, t := range c.AllowedTopologies {
		for j, e := range t.MatchLabelExpressions {
			if why, ok := deprecatedLabels[e.Key]; ok {
				at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key")
				texts = append(texts, fmt.Sprintf("%s: %s", at, why))
			}
		}
	}
	return texts
}

func capacityWarnings(c, _ *storagev1.CSIStorageCapacity) []string {
	s, at := c.NodeTopology, field.NewPath("nodeTopology")
	if s == nil {
		return nil
	}
	var texts []string
	for i, e := range s.MatchExpressions {
		if why, ok := deprecatedLabels[e.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", at.Child("matchExpressions").Index(i).Child("key"), e.Key, why))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		if why, ok := deprecatedLabels[key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", at.Child("matchLabels").Child(key), why))
		}
	}
	return texts
}

func runtimeClassWarnings(c, _ *nodev1.RuntimeClass) []string {
	if c.Scheduling == nil {
		return nil
	}
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(c.Scheduling.NodeSelector)) {
		if why, ok := deprecatedLabels[key]; ok {
			texts = append(texts, "scheduling.nodeSelector: "+why)
		}
	}
	return texts
}

// secretWarnings say what is wrong with a TLS key pair, in crypto/tls' words.
func secretWarnings(s, _ *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
