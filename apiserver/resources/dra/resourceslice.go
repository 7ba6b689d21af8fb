package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// resourceSlices is the entry of ResourceSlice.
func resourceSlices() *entry.Resource {
	return &entry.Resource{
		Plural: "resourceslices", New: entry.New[resourcev1.ResourceSlice],
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: resourcev1beta2.SchemeGroupVersion, New: entry.New[resourcev1beta2.ResourceSlice],
				ToStored:   entry.Recast[resourcev1.ResourceSlice],
				FromStored: entry.Recast[resourcev1beta2.ResourceSlice],
				FieldError: "field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: %s"},
			{GroupVersion: resourcev1beta1.SchemeGroupVersion, New: entry.New[resourcev1beta1.ResourceSlice],
				ToStored:   sliceToV1,
				FromStored: sliceToV1beta1,
				FieldError: "field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: %s"},
		}},
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration,
			Default:        entry.Default(defaultResourceSlice),
			PrepareCreate:  entry.Create(createSlice),
			PrepareUpdate:  entry.Change(updateSlice),
			Validate:       entry.Validate(validateResourceSlice),
			ValidateUpdate: entry.ValidateChange(validateResourceSliceUpdate),
		},
		Delete: entry.Deletion{Returned: true},
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "spec.nodeName"}, {Label: "spec.driver"}, {Label: "spec.pool.name"}},
			FieldError: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
		},
		Table: entry.TableOf(resourceSliceColumns(), resourceSliceCells),
	}
}
