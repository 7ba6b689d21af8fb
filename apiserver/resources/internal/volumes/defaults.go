package volumes

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/defaulting"
)

// FillHostPath sets the default type of a host path.
func FillHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		defaulting.Set(&h.Type, corev1.HostPathUnset)
	}
}

// FillAzureDisk sets the defaults of an Azure disk.
func FillAzureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		defaulting.Set(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		defaulting.Set(&a.FSType, "ext4")
		defaulting.Set(&a.ReadOnly, false)
		defaulting.Set(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

// FillRBD sets the defaults of a Rados block device.
func FillRBD(pool, user, keyring *string) {
	defaulting.Fill(pool, "rbd")
	defaulting.Fill(user, "admin")
	defaulting.Fill(keyring, "/etc/ceph/keyring")
}

// FillScaleIO sets the defaults of a ScaleIO volume.
func FillScaleIO(mode, fsType *string) {
	defaulting.Fill(mode, "ThinProvisioned")
	defaulting.Fill(fsType, "xfs")
}

// DefaultVolumeSpec sets the defaults of a volume, also of the inline volume of a VolumeAttachment.
func DefaultVolumeSpec(s *corev1.PersistentVolumeSpec) {
	defaulting.Round(s.Capacity)
	FillHostPath(s.HostPath)
	FillAzureDisk(s.AzureDisk)
	if i := s.ISCSI; i != nil {
		defaulting.Fill(&i.ISCSIInterface, "default")
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
	defaulting.Fill(&c.Status.Phase, corev1.ClaimPending)
	DefaultClaimSpec(&c.Spec)
	defaulting.Round(c.Status.Capacity)
	defaulting.Round(c.Status.AllocatedResources)
}

// DefaultClaimSpec sets the defaults of a claim's spec.
func DefaultClaimSpec(s *corev1.PersistentVolumeClaimSpec) {
	defaulting.Set(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	defaulting.Round(s.Resources.Limits)
	defaulting.Round(s.Resources.Requests)
}
