package volumes

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/defaulting"
)

// FillHostPath fills in the type of a path on the host.
func FillHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		defaulting.Set(&h.Type, corev1.HostPathUnset)
	}
}

// FillAzureDisk fills in what an Azure disk may leave out.
func FillAzureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		defaulting.Set(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		defaulting.Set(&a.FSType, "ext4")
		defaulting.Set(&a.ReadOnly, false)
		defaulting.Set(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

// FillRBD fills in what a Rados block device may leave out.
func FillRBD(pool, user, keyring *string) {
	defaulting.Fill(pool, "rbd")
	defaulting.Fill(user, "admin")
	defaulting.Fill(keyring, "/etc/ceph/keyring")
}

// FillScaleIO fills in what a ScaleIO volume may leave out.
func FillScaleIO(mode, fsType *string) {
	defaulting.Fill(mode, "ThinProvisioned")
	defaulting.Fill(fsType, "xfs")
}

// DefaultVolumeSpec is what also holds for the volume inside a VolumeAttachment.
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

// DefaultClaim fills in a claim's spec, and the phase that it begins with.
func DefaultClaim(c *corev1.PersistentVolumeClaim) {
	defaulting.Fill(&c.Status.Phase, corev1.ClaimPending)
	DefaultClaimSpec(&c.Spec)
	defaulting.Round(c.Status.Capacity)
	defaulting.Round(c.Status.AllocatedResources)
}

// DefaultClaimSpec fills in a claim's spec.
func DefaultClaimSpec(s *corev1.PersistentVolumeClaimSpec) {
	defaulting.Set(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	defaulting.Round(s.Resources.Limits)
	defaulting.Round(s.Resources.Requests)
}
