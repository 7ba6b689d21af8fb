package apps

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// replicaSets is the entry of ReplicaSet.
func replicaSets() *entry.Resource {
	return &entry.Resource{
		Plural: "replicasets", New: entry.New[appsv1.ReplicaSet], Namespaced: true,
		ShortNames: []string{"rs"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration,
			Default:        entry.Default(defaultReplicaSet),
			PrepareCreate:  entry.Create(createReplicaSet),
			PrepareUpdate:  entry.Change(updateReplicaSet),
			Validate:       entry.Validate(validateReplicaSet),
			ValidateUpdate: entry.ValidateChange(validateReplicaSetUpdate),
			Warnings:       entry.Warn(replicaSetWarnings),
		},
		Subresources: []entry.Subresource{
			entry.ScaleOf(appsv1.Resource("replicasets/scale")),
			entry.StatusWith(entry.Subresource{
				ValidateUpdate: entry.ValidateChange(validateReplicaSetStatus),
			}),
		},
		Table: entry.TableOf(replicaSetColumns(), replicaSetCells),
	}
}

// defaultReplicaSet sets one replica.
func defaultReplicaSet(r *appsv1.ReplicaSet) {
	check.SetDefault(&r.Spec.Replicas, 1)
	podspec.DefaultTemplate(&r.Spec.Template)
}

func replicaSetWarnings(r, old *appsv1.ReplicaSet) []string {
	return append(
		podspec.NamesOfNew(r, old == nil), podspec.OfTemplate(r, old, old == nil, specTemplate, &r.Spec.Template)...,
	)
}

func createReplicaSet(r *appsv1.ReplicaSet) { podspec.DropTemplateFields(&r.Spec.Template, nil) }

func updateReplicaSet(r, old *appsv1.ReplicaSet) {
	podspec.DropTemplateFields(&r.Spec.Template, &old.Spec.Template)
}

func validateReplicaSet(r *appsv1.ReplicaSet) field.ErrorList { return replicaSetSpec(&r.Spec, nil) }

func replicaSetSpec(s *appsv1.ReplicaSetSpec, old *corev1.PodTemplateSpec) field.ErrorList {
	errs := check.Naturals(check.SpecPath, "replicas", s.Replicas)
	errs = append(errs, check.Natural(s.MinReadySeconds, check.SpecPath.Child("minReadySeconds"))...)
	// Upstream has the wrong kind here.
	usable, faults := podSelector(s.Selector, "invalid label selector", "empty selector is invalid for deployment")
	errs = append(errs, faults...)
	return append(errs, replicas(usable, &s.Template, old)...)
}

func validateReplicaSetUpdate(r, old *appsv1.ReplicaSet) field.ErrorList {
	return append(replicaSetSpec(&r.Spec, &old.Spec.Template), podspec.SameSelector(r.Spec.Selector, old.Spec.Selector)...)
}

func validateReplicaSetStatus(r, _ *appsv1.ReplicaSet) field.ErrorList {
	s := &r.Status
	return podspec.SetStatus(
		s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.TerminatingReplicas, s.ObservedGeneration,
	)
}

func replicaSetColumns() []entry.Column {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	return []entry.Column{
		entry.NameColumn,
		entry.Integer("Desired", spec["replicas"]),
		entry.Integer("Current", status["replicas"]),
		entry.Integer("Ready", status["readyReplicas"]),
		entry.AgeColumn,
		entry.Wide(entry.ContainersColumn),
		entry.Wide(entry.ImagesColumn),
		entry.Wide(entry.Text("Selector", spec["selector"])),
	}
}

func replicaSetCells(r *appsv1.ReplicaSet, now time.Time) []any {
	names, images := entry.ContainersOf(&r.Spec.Template.Spec)
	return []any{
		r.Name,
		int64(entry.ValueOr(r.Spec.Replicas, 0)),
		int64(r.Status.Replicas),
		int64(r.Status.ReadyReplicas),
		entry.AgeOf(&r.ObjectMeta, now),
		names,
		images,
		metav1.FormatLabelSelector(r.Spec.Selector),
	}
}
