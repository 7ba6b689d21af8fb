package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

func deviceClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "deviceclasses", New: entry.New[resourcev1.DeviceClass],
		Served: entry.Served{Optional: []entry.Version{
			entry.SameJSON[resourcev1.DeviceClass, resourcev1beta2.DeviceClass](resourcev1beta2.SchemeGroupVersion),
			entry.SameJSON[resourcev1.DeviceClass, resourcev1beta1.DeviceClass](resourcev1beta1.SchemeGroupVersion),
		}},
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Validate:   entry.ValidateChange(validateDeviceClass),
		},
		Delete: entry.Deletion{Returned: true},
		Table:  entry.NameAndAge[*resourcev1.DeviceClass](),
	}
}

// validateDeviceClass applies the rules for stored values to unchanged selectors and configurations.
func validateDeviceClass(c, old *resourcev1.DeviceClass) field.ErrorList {
	at, s := field.NewPath("spec"), &c.Spec
	stored := old != nil && apiequality.Semantic.DeepEqual(s.Selectors, old.Spec.Selectors)
	errs := selectors(s.Selectors, stored, at.Child("selectors"))
	stored = old != nil && apiequality.Semantic.DeepEqual(s.Config, old.Spec.Config)
	return append(errs, each(s.Config, resourcev1.DeviceConfigMaxSize, at.Child("config"),
		func(c *resourcev1.DeviceClassConfiguration, at *field.Path) field.ErrorList {
			return deviceConfig(&c.DeviceConfiguration, stored, at)
		})...)
}
