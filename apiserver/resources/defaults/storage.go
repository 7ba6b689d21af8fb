package defaults

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// StorageClass deletes what it provisioned, and binds at once.
func StorageClass(c *storagev1.StorageClass) {
	set(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	set(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}

// CSIDriver has to be attached and is told as little as possible.
func CSIDriver(d *storagev1.CSIDriver) {
	set(&d.Spec.AttachRequired, true)
	set(&d.Spec.PodInfoOnMount, false)
	set(&d.Spec.StorageCapacity, false)
	set(&d.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(d.Spec.VolumeLifecycleModes) == 0 {
		d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	set(&d.Spec.RequiresRepublish, false)
	set(&d.Spec.SELinuxMount, false)
}

// VolumeAttachment fills in the volume that it may carry with it.
func VolumeAttachment(a *storagev1.VolumeAttachment) {
	if s := a.Spec.Source.InlineVolumeSpec; s != nil {
		volumeSpec(s)
	}
}
