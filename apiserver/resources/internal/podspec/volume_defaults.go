package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// defaultVolume sets the defaults of a pod's volume. A volume without a source becomes an emptyDir.
func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Image != nil && v.Image.PullPolicy == "" {
		v.Image.PullPolicy = DefaultPullPolicy(v.Image.Reference)
	}
	if s := v.Secret; s != nil {
		check.SetDefault(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if c := v.ConfigMap; c != nil {
		check.SetDefault(&c.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	defaultHostPath(v.HostPath)
	defaultAzureDisk(v.AzureDisk)
	if d := v.DownwardAPI; d != nil {
		check.SetDefault(&d.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultDownwardFiles(d.Items)
	}
	if p := v.Projected; p != nil {
		defaultProjected(p)
	}
	if s := v.ISCSI; s != nil {
		check.FillDefault(&s.ISCSIInterface, "default")
	}
	if s := v.RBD; s != nil {
		defaultRBD(&s.RBDPool, &s.RadosUser, &s.Keyring)
	}
	if s := v.ScaleIO; s != nil {
		defaultScaleIO(&s.StorageMode, &s.FSType)
	}
	if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
		DefaultClaimSpec(&e.VolumeClaimTemplate.Spec)
	}
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		defaultFieldRef(files[i].FieldRef)
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	check.SetDefault(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range p.Sources {
		if d := p.Sources[i].DownwardAPI; d != nil {
			defaultDownwardFiles(d.Items)
		}
		if t := p.Sources[i].ServiceAccountToken; t != nil {
			check.SetDefault(&t.ExpirationSeconds, 60*60)
		}
	}
}

func defaultHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		check.SetDefault(&h.Type, corev1.HostPathUnset)
	}
}

func defaultAzureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		check.SetDefault(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		check.SetDefault(&a.FSType, "ext4")
		check.SetDefault(&a.ReadOnly, false)
		check.SetDefault(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

// defaultRBD sets the defaults of a Rados block device.
func defaultRBD(pool, user, keyring *string) {
	check.FillDefault(pool, "rbd")
	check.FillDefault(user, "admin")
	check.FillDefault(keyring, "/etc/ceph/keyring")
}

func defaultScaleIO(mode, fsType *string) {
	check.FillDefault(mode, "ThinProvisioned")
	check.FillDefault(fsType, "xfs")
}

// DefaultVolumeSpec sets the defaults of a persistent volume's spec. VolumeAttachments have such a spec for inline
// volumes.
func DefaultVolumeSpec(s *corev1.PersistentVolumeSpec) {
	check.Round(s.Capacity)
	defaultHostPath(s.HostPath)
	defaultAzureDisk(s.AzureDisk)
	if i := s.ISCSI; i != nil {
		check.FillDefault(&i.ISCSIInterface, "default")
	}
	if r := s.RBD; r != nil {
		defaultRBD(&r.RBDPool, &r.RadosUser, &r.Keyring)
	}
	if io := s.ScaleIO; io != nil {
		defaultScaleIO(&io.StorageMode, &io.FSType)
	}
}

// DefaultClaim sets the defaults of a claim's spec, and its initial phase.
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
