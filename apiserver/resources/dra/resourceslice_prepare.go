package dra

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func createSlice(s *resourcev1.ResourceSlice) { updateSlice(s, nil) }

func updateSlice(s, old *resourcev1.ResourceSlice) {
	for _, drop := range sliceGates {
		drop(s, old)
	}
}

// sliceGates remove the fields of slices whose gates are off, each with its gate.
var sliceGates = []func(s, old *resourcev1.ResourceSlice){
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
		check.FieldsOf[resourcev1.DeviceAttribute]("IntValues", "BoolValues", "StringValues", "VersionValues")),
}
