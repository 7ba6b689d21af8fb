package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// FillHostPath sets the default type of a host path.
func FillHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		check.SetDefault(&h.Type, corev1.HostPathUnset)
	}
}

// FillAzureDisk sets the defaults of an Azure disk.
func FillAzureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		check.SetDefault(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		check.SetDefault(&a.FSType, "ext4")
		check.SetDefault(&a.ReadOnly, false)
		check.SetDefault(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

// FillRBD sets the defaults of a Rados block device.
func FillRBD(pool, user, keyring *string) {
	check.FillDefault(pool, "rbd")
	check.FillDefault(user, "admin")
	check.FillDefault(keyring, "/etc/ceph/keyring")
}

// FillScaleIO sets the defaults of a ScaleIO volume.
func FillScaleIO(mode, fsType *string) {
	check.FillDefault(mode, "ThinProvisioned")
	check.FillDefault(fsType, "xfs")
}

// DefaultVolumeSpec sets the defaults of a volume, also of the inline volume of a VolumeAttachment.
func DefaultVolumeSpec(s *corev1.PersistentVolumeSpec) {
	check.Round(s.Capacity)
	FillHostPath(s.HostPath)
	FillAzureDisk(s.AzureDisk)
	if i := s.ISCSI; i != nil {
		check.FillDefault(&i.ISCSIInterface, "default")
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
	check.FillDefault(&c.Status.Phase, corev1.ClaimPending)
	DefaultClaimSpec(&c.Spec)
	check.Round(c.Status.Capacity)
	check.Round(c.Status.AllocatedResources)
}

// DefaultClaimSpec sets the defaults of a claim's spec.
func DefaultClaimSpec(s *corev1.PersistentVolumeClaimSpec) {
	check.SetDefault(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	check.Round(s.Resources.Limits)
	check.Round(s.Resources.Requests)
}
