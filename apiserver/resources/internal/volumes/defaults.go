package volumes

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// FillHostPath sets the default type of a host path.
func FillHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		entry.SetDefault(&h.Type, corev1.HostPathUnset)
	}
}

// FillAzureDisk sets the defaults of an Azure disk.
func FillAzureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		entry.SetDefault(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		entry.SetDefault(&a.FSType, "ext4")
		entry.SetDefault(&a.ReadOnly, false)
		entry.SetDefault(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

// FillRBD sets the defaults of a Rados block device.
func FillRBD(pool, user, keyring *string) {
	entry.FillDefault(pool, "rbd")
	entry.FillDefault(user, "admin")
	entry.FillDefault(keyring, "/etc/ceph/keyring")
}

// FillScaleIO sets the defaults of a ScaleIO volume.
func FillScaleIO(mode, fsType *string) {
	entry.FillDefault(mode, "ThinProvisioned")
	entry.FillDefault(fsType, "xfs")
}

// DefaultVolumeSpec sets the defaults of a volume, also of the inline volume of a VolumeAttachment.
func DefaultVolumeSpec(s *corev1.PersistentVolumeSpec) {
	entry.Round(s.Capacity)
	FillHostPath(s.HostPath)
	FillAzureDisk(s.AzureDisk)
	if i := s.ISCSI; i != nil {
		entry.FillDefault(&i.ISCSIInterface, "default")
	}
	if r := s.RBD; r != nil {
		FillRBD(&r.RBDPool, &r.RadosUser, &r.Keyring)
	}
	if io := s.ScaleIO; io != nil {
		FillScaleIO(&io.StorageMode, &io.FSType)
	}
}

// DefaultClaim sets the defaults of a claim's spec, and its first phase.
func DefaultClaim(c *corev1.PersistentVolumeClaim) {
	entry.FillDefault(&c.Status.Phase, corev1.ClaimPending)
	DefaultClaimSpec(&c.Spec)
	entry.Round(c.Status.Capacity)
	entry.Round(c.Status.AllocatedResources)
}

// DefaultClaimSpec sets the defaults of a claim's spec.
func DefaultClaimSpec(s *corev1.PersistentVolumeClaimSpec) {
	entry.SetDefault(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	entry.Round(s.Resources.Limits)
	entry.Round(s.Resources.Requests)
}
