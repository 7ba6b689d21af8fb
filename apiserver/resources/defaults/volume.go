package defaults

import (
	corev1 "k8s.io/api/core/v1"
)

// Volume fills in one volume of a pod. One without any source is an empty directory.
func Volume(v *corev1.Volume) {
	volume(v)
	secretVolume(v.Secret)
	configMapVolume(v.ConfigMap)
	hostPath(v.HostPath)
	azureDisk(v.AzureDisk)
	if d := v.DownwardAPI; d != nil {
		set(&d.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		downwardFiles(d.Items)
	}
	if p := v.Projected; p != nil {
		projected(p)
	}
	if s := v.ISCSI; s != nil {
		fill(&s.ISCSIInterface, "default")
	}
	if s := v.RBD; s != nil {
		rbd(&s.RBDPool, &s.RadosUser, &s.Keyring)
	}
	if s := v.ScaleIO; s != nil {
		scaleIO(&s.StorageMode, &s.FSType)
	}
	if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
		claimSpec(&e.VolumeClaimTemplate.Spec)
	}
}

func volume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Image != nil && v.Image.PullPolicy == "" {
		v.Image.PullPolicy = pullPolicy(v.Image.Reference)
	}
}

func secretVolume(s *corev1.SecretVolumeSource) {
	if s != nil {
		set(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
}

func configMapVolume(c *corev1.ConfigMapVolumeSource) {
	if c != nil {
		set(&c.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
}

func hostPath(h *corev1.HostPathVolumeSource) {
	if h != nil {
		set(&h.Type, corev1.HostPathUnset)
	}
}

func azureDisk(a *corev1.AzureDiskVolumeSource) {
	if a != nil {
		set(&a.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		set(&a.FSType, "ext4")
		set(&a.ReadOnly, false)
		set(&a.Kind, corev1.AzureSharedBlobDisk)
	}
}

func rbd(pool, user, keyring *string) {
	fill(pool, "rbd")
	fill(user, "admin")
	fill(keyring, "/etc/ceph/keyring")
}

func scaleIO(mode, fsType *string) {
	fill(mode, "ThinProvisioned")
	fill(fsType, "xfs")
}

func downwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		fieldRef(files[i].FieldRef)
	}
}

func projected(p *corev1.ProjectedVolumeSource) {
	set(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	const hour = 60 * 60
	for i := range p.Sources {
		if d := p.Sources[i].DownwardAPI; d != nil {
			downwardFiles(d.Items)
		}
		if t := p.Sources[i].ServiceAccountToken; t != nil {
			set(&t.ExpirationSeconds, hour)
		}
	}
}

// PersistentVolume fills in a volume's spec, and the phase that it begins with.
func PersistentVolume(v *corev1.PersistentVolume) {
	fill(&v.Status.Phase, corev1.VolumePending)
	fill(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	set(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	volumeSpec(&v.Spec)
}

// volumeSpec is what also holds for the volume inside a VolumeAttachment.
func volumeSpec(s *corev1.PersistentVolumeSpec) {
	round(s.Capacity)
	hostPath(s.HostPath)
	azureDisk(s.AzureDisk)
	if i := s.ISCSI; i != nil {
		fill(&i.ISCSIInterface, "default")
	}
	if r := s.RBD; r != nil {
		rbd(&r.RBDPool, &r.RadosUser, &r.Keyring)
	}
	if io := s.ScaleIO; io != nil {
		scaleIO(&io.StorageMode, &io.FSType)
	}
}

// PersistentVolumeClaim fills in a claim's spec, and the phase that it begins with.
func PersistentVolumeClaim(c *corev1.PersistentVolumeClaim) {
	fill(&c.Status.Phase, corev1.ClaimPending)
	claimSpec(&c.Spec)
	round(c.Status.Capacity)
	round(c.Status.AllocatedResources)
}

func claimSpec(s *corev1.PersistentVolumeClaimSpec) {
	set(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	round(s.Resources.Limits)
	round(s.Resources.Requests)
}
