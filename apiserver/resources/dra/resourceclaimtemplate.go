package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func resourceClaimTemplates() *entry.Resource {
	return &entry.Resource{
		Plural: "resourceclaimtemplates", New: entry.New[resourcev1.ResourceClaimTemplate], Namespaced: true,
		Served: entry.Served{Optional: []entry.Version{
			entry.SameJSON[resourcev1.ResourceClaimTemplate, resourcev1beta2.ResourceClaimTemplate](
				resourcev1beta2.SchemeGroupVersion),
			v1beta1(entry.New[resourcev1beta1.ResourceClaimTemplate], ""),
		}},
		Strategy: entry.Strategy{
			Default: entry.Default(func(t *resourcev1.ResourceClaimTemplate) {
				defaultDeviceClaim(&t.Spec.Spec.Devices)
			}),
			Prepare: entry.Change(func(t, old *resourcev1.ResourceClaimTemplate) {
				was := check.ValueOf(old)
				dropDerived(&t.Spec.Spec.Devices, &was.Spec.Spec.Devices)
			}),
			Validate: entry.ValidateChange(validateResourceClaimTemplate),
		},
		Delete: entry.Deletion{Returned: true},
		Table:  entry.NameAndAge[*resourcev1.ResourceClaimTemplate](),
	}
}

func validateResourceClaimTemplate(t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
	at := field.NewPath("spec")
	if old != nil {
		return check.Immutable(t.Spec, old.Spec, at)
	}
	errs := podspec.TemplateMeta(&t.Spec.ObjectMeta, at.Child("metadata"))
	return append(errs, deviceClaim(&t.Spec.Spec.Devices, at.Child("spec", "devices"))...)
}
