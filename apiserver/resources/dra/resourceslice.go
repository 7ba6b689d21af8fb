package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func resourceSlices(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "resourceslices", New: entry.New[resourcev1.ResourceSlice],
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: resourcev1beta2.SchemeGroupVersion, New: entry.New[resourcev1beta2.ResourceSlice],
				ToStored:   entry.Recast[resourcev1.ResourceSlice],
				FromStored: entry.Recast[resourcev1beta2.ResourceSlice],
				FieldError: "field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: %s"},
			v1beta1(entry.New[resourcev1beta1.ResourceSlice],
				"field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: %s"),
		}},
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(func(s *resourcev1.ResourceSlice) { taintDevices(s, clock()) }),
			Prepare:    entry.Change(dropSliceFields),
			Validate:   entry.ValidateChange(validateResourceSlice),
		},
		Delete: entry.Deletion{Returned: true},
		Selection: entry.Selection{
			Selectable: []entry.Field{{Label: "spec.nodeName"}, {Label: "spec.driver"}, {Label: "spec.pool.name"}},
			FieldError: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
		},
		Table: resourceSliceTable(),
	}
}

// taintDevices sets the missing times of taints to now.
func taintDevices(s *resourcev1.ResourceSlice, now metav1.Time) {
	for i := range s.Spec.Devices {
		taints := s.Spec.Devices[i].Taints
		for j := range taints {
			check.SetDefault(&taints[j].TimeAdded, now)
		}
	}
}

// dropSliceFields removes the fields of the feature gates that are off.
var dropSliceFields = check.Gates(
	// DRAPartitionableDevicesType
	check.Gate[resourcev1.ResourceSlice](check.FieldsOf[resourcev1.ResourceSliceSpec]("PartitionTypeAttribute")),
	// DRAOptionalNodeOperations
	check.Gate[resourcev1.ResourceSlice](check.FieldsOf[resourcev1.ResourceSliceSpec]("SkipNodeOperations")),
	// DRADeviceCompatibilityGroups
	check.Gate[resourcev1.ResourceSlice](check.FieldsOf[resourcev1.DeviceCounterConsumption]("CompatibilityGroups")),
	// DRANodeAllocatableResources
	check.Gate[resourcev1.ResourceSlice](check.FieldsOf[resourcev1.Device]("NodeAllocatableResources")),
	// DRAListTypeAttributes
	check.Gate[resourcev1.ResourceSlice](
		check.FieldsOf[resourcev1.DeviceAttribute]("IntValues", "BoolValues", "StringValues", "VersionValues")))

func resourceSliceTable() entry.Table {
	spec := resourcev1.ResourceSliceSpec{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("Node", spec["nodeName"]),
		entry.Text("Driver", spec["driver"]),
		entry.Text("Pool", resourcev1.ResourcePool{}.SwaggerDoc()["name"]),
	}, func(s *resourcev1.ResourceSlice) []any {
		return []any{entry.ValueOr(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name}
	})
}
