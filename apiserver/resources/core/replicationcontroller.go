package core

import (
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
	"github.com/kubecascade/kubecascade/finalizers"
)

func replicationControllers() *entry.Resource {
	return &entry.Resource{
		Plural: "replicationcontrollers", New: entry.New[corev1.ReplicationController], Namespaced: true,
		ShortNames: []string{"rc"}, Categories: entry.All,
		Storage: entry.Storage{Collection: "controllers"},
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultReplicationController),
			Prepare:    podspec.DropFieldsOf,
			Validate: entry.ValidateChange(func(c, old *corev1.ReplicationController) field.ErrorList {
				return replicationControllerSpec(&c.Spec, check.ValueOf(old).Spec.Template)
			}),
			Warnings: podspec.NamedWarnings,
		},
		Delete: entry.Deletion{Policy: finalizers.OrphanDependents}, // C-23, C-25
		Subresources: []entry.Subresource{
			entry.ScaleOf(autoscalingv1.Resource("replicationcontrollers/scale")),
			entry.StatusSubresource(nil, validateReplicationControllerStatus),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "status.replicas", Unset: "0"}}},
		Table:     replicationControllerTable(),
	}
}

// defaultReplicationController copies the template's labels to the selector and the labels, and sets one replica.
func defaultReplicationController(c *corev1.ReplicationController) {
	if t := c.Spec.Template; t != nil && t.Labels != nil {
		if len(c.Spec.Selector) == 0 {
			c.Spec.Selector = maps.Clone(t.Labels)
		}
		if len(c.Labels) == 0 {
			c.Labels = maps.Clone(t.Labels)
		}
	}
	check.SetDefault(&c.Spec.Replicas, 1)
	if c.Spec.Template != nil {
		podspec.DefaultTemplate(c.Spec.Template)
	}
}

func replicationControllerSpec(s *corev1.ReplicationControllerSpec, old *corev1.PodTemplateSpec) field.ErrorList {
	errs := check.Present(len(s.Selector) > 0, check.SpecPath.Child("selector"), "")
	if s.Template == nil {
		return append(errs, check.RequireAll(check.SpecPath, "template", "")...)
	}
	if len(s.Selector) != 0 {
		errs = append(errs, podspec.MatchesSelector(labels.Set(s.Selector).AsSelector(), s.Template, check.TemplatePath)...)
	}
	errs = append(errs, podspec.ValidateTemplate(s.Template, old, check.TemplatePath)...)
	return append(errs, podspec.RestartsAlways(s.Template, "ReplicationController", check.TemplatePath)...)
}

func validateReplicationControllerStatus(c, _ *corev1.ReplicationController) field.ErrorList {
	s := &c.Status
	return podspec.SetStatus(
		s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, nil, s.ObservedGeneration,
	)
}

func replicationControllerTable() entry.Table {
	spec, status := corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()
	return entry.Listed(append([]entry.Column{
		entry.Integer("Desired", spec["replicas"]),
		entry.Integer("Current", status["replicas"]),
		entry.Integer("Ready", status["readyReplicas"]),
	}, entry.PodColumns(spec["selector"])...), func(c *corev1.ReplicationController) []any {
		template := check.ValueOf(c.Spec.Template)
		return append([]any{
			int64(entry.ValueOr(c.Spec.Replicas, 0)),
			int64(c.Status.Replicas),
			int64(c.Status.ReadyReplicas),
		}, entry.PodCells(&template.Spec, labels.FormatLabels(c.Spec.Selector))...)
	})
}
