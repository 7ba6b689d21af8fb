package prepare

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deviceStatus changes no metadata, and forgets the status of devices that are no longer allocated.
func deviceStatus(c, old *resourcev1.ResourceClaim) {
	metav1.ResetObjectMetaForStatus(c, old)
	gone := allocated(old)
	for id := range allocated(c) {
		delete(gone, id)
	}
	left := slices.DeleteFunc(slices.Clone(c.Status.Devices), func(d resourcev1.AllocatedDeviceStatus) bool {
		return gone[device{d.Driver, d.Pool, d.Device, value(d.ShareID)}]
	})
	if c.Status.Devices = left; len(left) == 0 {
		c.Status.Devices = nil
	}
}

type device struct{ driver, pool, name, share string }

func allocated(c *resourcev1.ResourceClaim) map[device]bool {
	set := map[device]bool{}
	if c.Status.Allocation != nil {
		for _, r := range c.Status.Allocation.Devices.Results {
			set[device{r.Driver, r.Pool, r.Device, string(value(r.ShareID))}] = true
		}
	}
	return set
}

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

func createLease(l *coordinationv1.Lease) { dropElection(&l.Spec, &coordinationv1.LeaseSpec{}) }

func updateLease(l, old *coordinationv1.Lease) { dropElection(&l.Spec, &old.Spec) }

// dropElection is for CoordinatedLeaderElection.
func dropElection(s, old *coordinationv1.LeaseSpec) {
	if old.Strategy == nil {
		s.Strategy = nil
	}
	if old.PreferredHolder == nil {
		s.PreferredHolder = nil
	}
}

func createDriver(d *storagev1.CSIDriver) { d.Spec.PreventPodSchedulingIfMissing = nil }

// updateDriver is for VolumeLimitScaling, as createDriver is.
func updateDriver(d, old *storagev1.CSIDriver) {
	if old.Spec.PreventPodSchedulingIfMissing == nil {
		d.Spec.PreventPodSchedulingIfMissing = nil
	}
}

// schemaStatus and levelStatus change no metadata but managed fields (B-41).
func schemaStatus(f, old *flowcontrolv1.FlowSchema) { keepMeta(&f.ObjectMeta, &old.ObjectMeta) }

func levelStatus(p, old *flowcontrolv1.PriorityLevelConfiguration) {
	keepMeta(&p.ObjectMeta, &old.ObjectMeta)
}

func keepMeta(m, old *metav1.ObjectMeta) {
	managed := m.ManagedFields
	*m = *old
	m.ManagedFields = managed
}
