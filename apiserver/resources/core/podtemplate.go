package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func podTemplates() *entry.Resource {
	return &entry.Resource{
		Plural: "podtemplates", New: entry.New[corev1.PodTemplate], Namespaced: true,
		Strategy: entry.Strategy{
			Generation:    entry.TemplateGeneration,
			Default:       entry.Default(func(t *corev1.PodTemplate) { podspec.DefaultTemplate(&t.Template) }),
			PrepareCreate: entry.Create(func(t *corev1.PodTemplate) { podspec.DropTemplateFields(&t.Template, nil) }),
			PrepareUpdate: entry.Change(func(t, old *corev1.PodTemplate) {
				podspec.DropTemplateFields(&t.Template, &old.Template)
			}),
			Validate: entry.ValidateEither(validatePodTemplate, validatePodTemplateUpdate),
			Warnings: entry.Warn(podTemplateWarnings),
		},
		Delete: entry.Deletion{Returned: true},
		Table: entry.Printed([]entry.Column{
			entry.NameColumn, entry.ContainersColumn, entry.ImagesColumn,
			entry.Text("Pod Labels", "The labels for the pod template."),
		}, podTemplateCells),
	}
}

func podTemplateWarnings(t, old *corev1.PodTemplate) []string {
	return podspec.OfTemplate(t, old, old == nil, field.NewPath("template"), &t.Template)
}

func validatePodTemplate(t *corev1.PodTemplate) field.ErrorList {
	return podspec.ValidateTemplate(&t.Template, nil, field.NewPath("template"))
}

func validatePodTemplateUpdate(t, old *corev1.PodTemplate) field.ErrorList {
	return podspec.ValidateTemplate(&t.Template, &old.Template, field.NewPath("template"))
}

func podTemplateCells(t *corev1.PodTemplate) []any {
	names, images := entry.ContainersOf(&t.Template.Spec)
	return []any{names, images, labels.FormatLabels(t.Template.Labels)}
}
