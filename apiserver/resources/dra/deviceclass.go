package dra

import (
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// deviceClasses is the entry of DeviceClass.
func deviceClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "deviceclasses", New: entry.New[resourcev1.DeviceClass],
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: resourcev1beta2.SchemeGroupVersion, New: entry.New[resourcev1beta2.DeviceClass],
				ToStored:   entry.Recast[resourcev1.DeviceClass],
				FromStored: entry.Recast[resourcev1beta2.DeviceClass]},
			{GroupVersion: resourcev1beta1.SchemeGroupVersion, New: entry.New[resourcev1beta1.DeviceClass],
				ToStored:   entry.Recast[resourcev1.DeviceClass],
				FromStored: entry.Recast[resourcev1beta1.DeviceClass]},
		}},
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration,
			Validate:       entry.Validate(validateDeviceClass),
			ValidateUpdate: entry.ValidateChange(validateDeviceClassUpdate),
		},
		Delete: entry.Deletion{Returned: true},
		Table:  entry.TableOf(entry.NameAndAge(), deviceClassCells),
	}
}

func validateDeviceClass(c *resourcev1.DeviceClass) field.ErrorList { return deviceClassOver(c, nil) }

func validateDeviceClassUpdate(c, old *resourcev1.DeviceClass) field.ErrorList {
	return deviceClassOver(c, &old.Spec)
}

// deviceClassOver accepts list lengths that the old object had.
func deviceClassOver(c *resourcev1.DeviceClass, old *resourcev1.DeviceClassSpec) field.ErrorList {
	at, s := field.NewPath("spec"), &c.Spec
	errs := selectors(
		s.Selectors, old != nil && apiequality.Semantic.DeepEqual(s.Selectors, old.Selectors), at.Child("selectors"),
	)
	stored := old != nil && apiequality.Semantic.DeepEqual(s.Config, old.Config)
	return append(errs, each(s.Config, resourcev1.DeviceConfigMaxSize, at.Child("config"),
		func(c *resourcev1.DeviceClassConfiguration, at *field.Path) field.ErrorList {
			return deviceConfig(&c.DeviceConfiguration, stored, at)
		})...)
}

func deviceClassCells(c *resourcev1.DeviceClass, now time.Time) []any {
	return []any{c.Name, entry.AgeOf(&c.ObjectMeta, now)}
}
