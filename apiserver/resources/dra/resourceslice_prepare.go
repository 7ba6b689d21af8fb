package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
)

func createSlice(s *resourcev1.ResourceSlice) { dropSliceFields(s, &resourcev1.ResourceSlice{}) }

func updateSlice(s, old *resourcev1.ResourceSlice) { dropSliceFields(s, old) }

// dropSliceFields removes the fields whose gates are off, unless the old slice has them.
func dropSliceFields(s, old *resourcev1.ResourceSlice) {
	dropDevices(s, old.Spec.Devices)
	if old.Spec.PartitionTypeAttribute == nil { // DRAPartitionableDevicesType
		s.Spec.PartitionTypeAttribute = nil
	}
	if len(old.Spec.SkipNodeOperations) == 0 { // DRAOptionalNodeOperations
		s.Spec.SkipNodeOperations = nil
	}
}

// dropDevices is for DRAListTypeAttributes, DRANodeAllocatableResources and DRADeviceCompatibilityGroups.
func dropDevices(s *resourcev1.ResourceSlice, old []resourcev1.Device) {
	lists, allocatable, groups := false, false, false
	for i := range old {
		for _, c := range old[i].ConsumesCounters {
			groups = groups || c.CompatibilityGroups != nil
		}
		allocatable = allocatable || old[i].NodeAllocatableResources != nil
		for _, a := range old[i].Attributes {
			lists = lists || a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil || a.VersionValues != nil
		}
	}
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		if !allocatable {
			d.NodeAllocatableResources = nil
		}
		for j := range d.ConsumesCounters {
			if !groups {
				d.ConsumesCounters[j].CompatibilityGroups = nil
			}
		}
		if lists {
			continue
		}
		for name, a := range d.Attributes {
			a.IntValues, a.BoolValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			d.Attributes[name] = a
		}
	}
}
