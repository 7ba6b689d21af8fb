package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func replicaSets() *entry.Resource {
	return &entry.Resource{
		Plural: "replicasets", New: entry.New[appsv1.ReplicaSet], Namespaced: true,
		ShortNames: []string{"rs"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultReplicaSet),
			Prepare:    podspec.DropFieldsOf,
			Validate:   entry.ValidateChange(validateReplicaSet),
			Warnings:   podspec.NamedWarnings,
		},
		Subresources: []entry.Subresource{
			entry.ScaleOf(appsv1.Resource("replicasets/scale")),
			entry.StatusSubresource(nil, validateReplicaSetStatus),
		},
		Table: replicaSetTable(),
	}
}

func defaultReplicaSet(r *appsv1.ReplicaSet) {
	check.SetDefault(&r.Spec.Replicas, 1)
	podspec.DefaultTemplate(&r.Spec.Template)
}

func validateReplicaSet(r, old *appsv1.ReplicaSet) field.ErrorList {
	s := &r.Spec
	errs := check.Naturals(check.SpecPath, "replicas", s.Replicas)
	errs = append(errs, check.Natural(s.MinReadySeconds, check.SpecPath.Child("minReadySeconds"))...)
	// Upstream's message has the wrong kind.
	usable, faults := podSelector(s.Selector, "invalid label selector", "empty selector is invalid for deployment")
	errs = append(errs, faults...)
	was := check.ValueOf(old)
	errs = append(errs, replicas(usable, &s.Template, &was.Spec.Template)...)
	if old == nil {
		return errs
	}
	return append(errs, podspec.SameSelector(s.Selector, old.Spec.Selector)...)
}

func validateReplicaSetStatus(r, _ *appsv1.ReplicaSet) field.ErrorList {
	s := &r.Status
	return podspec.SetStatus(
		s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.TerminatingReplicas, s.ObservedGeneration,
	)
}

func replicaSetTable() entry.Table {
	spec, status := appsv1.ReplicaSetSpec{}.SwaggerDoc(), appsv1.ReplicaSetStatus{}.SwaggerDoc()
	return entry.Listed(append([]entry.Column{
		entry.Integer("Desired", spec["replicas"]),
		entry.Integer("Current", status["replicas"]),
		entry.Integer("Ready", status["readyReplicas"]),
	}, entry.PodColumns(spec["selector"])...), func(r *appsv1.ReplicaSet) []any {
		return append([]any{
			int64(entry.ValueOr(r.Spec.Replicas, 0)), int64(r.Status.Replicas), int64(r.Status.ReadyReplicas),
		}, entry.PodCells(&r.Spec.Template.Spec, metav1.FormatLabelSelector(r.Spec.Selector))...)
	})
}
