package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func runtimeClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "runtimeclasses", New: entry.New[nodev1.RuntimeClass],
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Conditional:    true,
			Default:        entry.Default(defaultRuntimeClass),
			Validate:       entry.Validate(validateRuntimeClass),
			Warnings:       entry.Warn(runtimeClassWarnings),
		},
		Table: entry.Listed([]entry.Column{entry.Text("Handler", "")}, // as upstream prints it
			func(c *nodev1.RuntimeClass) []any { return []any{c.Handler} }),
	}
}

func defaultRuntimeClass(c *nodev1.RuntimeClass) {
	if c.Overhead != nil {
		check.Round(c.Overhead.PodFixed)
	}
}

func runtimeClassWarnings(c, _ *nodev1.RuntimeClass) []string {
	if c.Scheduling == nil {
		return nil
	}
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(c.Scheduling.NodeSelector)) {
		if why, ok := check.DeprecatedLabels[key]; ok {
			texts = append(texts, "scheduling.nodeSelector: "+why)
		}
	}
	return texts
}

func validateRuntimeClass(c *nodev1.RuntimeClass) (errs field.ErrorList) {
	if c.Handler == "" { // upstream returns this error in addition to that of the declared rule
		errs = check.DNSLabel("", field.NewPath("handler"))
	}
	if c.Overhead != nil {
		limits := &corev1.ResourceRequirements{Limits: c.Overhead.PodFixed}
		errs = append(errs, (&podspec.Rules{}).Resources(limits, check.ContainerResourceName, field.NewPath("overhead"))...)
	}
	if c.Scheduling != nil {
		at := field.NewPath("scheduling")
		errs = append(errs, v1validation.ValidateLabels(c.Scheduling.NodeSelector, at.Child("nodeSelector"))...)
		errs = append(errs, podspec.ValidateTolerations(c.Scheduling.Tolerations, at.Child("tolerations"))...)
	}
	return errs
}
