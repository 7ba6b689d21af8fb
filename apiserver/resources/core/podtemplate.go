package core

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func podTemplates() *entry.Resource {
	return &entry.Resource{
		Plural: "podtemplates", New: entry.New[corev1.PodTemplate], Namespaced: true,
		Strategy: entry.Strategy{
			Generation: entry.TemplateGeneration,
			Default:    entry.Default(func(t *corev1.PodTemplate) { podspec.DefaultTemplate(&t.Template) }),
			Prepare:    podspec.DropFieldsOf,
			Validate: entry.ValidateChange(func(t, old *corev1.PodTemplate) field.ErrorList {
				was := check.ValueOf(old)
				return podspec.ValidateTemplate(&t.Template, &was.Template, field.NewPath("template"))
			}),
			Warnings: podspec.Warnings,
		},
		Delete: entry.Deletion{Returned: true},
		Table: entry.Printed([]entry.Column{
			entry.NameColumn, entry.ContainersColumn, entry.ImagesColumn,
			entry.Text("Pod Labels", "The labels for the pod template."),
		}, podTemplateCells),
	}
}

func podTemplateCells(t *corev1.PodTemplate) []any {
	names, images := entry.ContainersOf(&t.Template.Spec)
	return []any{names, images, labels.FormatLabels(t.Template.Labels)}
}
