package dra

import (
	resourcev1 "k8s.io/api/resource/v1"
)

func createDevices(s *resourcev1.ResourceSlice) { dropDevices(s, nil) }

func updateDevices(s, old *resourcev1.ResourceSlice) { dropDevices(s, old.Spec.Devices) }

// dropDevices is for DRAListTypeAttributes and DRANodeAllocatableResources.
func dropDevices(s *resourcev1.ResourceSlice, old []resourcev1.Device) {
	lists, mappings := false, false
	for i := range old {
		mappings = mappings || old[i].NodeAllocatableResourceMappings != nil
		for _, a := range old[i].Attributes {
			lists = lists || a.IntValues != nil || a.BoolValues != nil || a.StringValues != nil || a.VersionValues != nil
		}
	}
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		if !mappings {
			d.NodeAllocatableResourceMappings = nil
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
