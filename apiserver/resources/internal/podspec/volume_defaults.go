package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// defaultVolume sets the defaults of a pod's volume. One without a source is an emptyDir.
func defaultVolume(v *corev1.Volume) {
	fillVolume(v)
	fillSecretVolume(v.Secret)
	fillConfigMapVolume(v.ConfigMap)
	FillHostPath(v.HostPath)
	FillAzureDisk(v.AzureDisk)
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
		FillRBD(&s.RBDPool, &s.RadosUser, &s.Keyring)
	}
	if s := v.ScaleIO; s != nil {
		FillScaleIO(&s.StorageMode, &s.FSType)
	}
	if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
		DefaultClaimSpec(&e.VolumeClaimTemplate.Spec)
	}
}

func fillVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Image != nil && v.Image.PullPolicy == "" {
		v.Image.PullPolicy = DefaultPullPolicy(v.Image.Reference)
	}
}

func fillSecretVolume(s *corev1.SecretVolumeSource) {
	if s != nil {
		check.SetDefault(&s.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
}

func fillConfigMapVolume(c *corev1.ConfigMapVolumeSource) {
	if c != nil {
		check.SetDefault(&c.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		fillFieldRef(files[i].FieldRef)
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	check.SetDefault(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	const hour = 60 * 60
	for i := range p.Sources {
		if d := p.Sources[i].DownwardAPI; d != nil {
			defaultDownwardFiles(d.Items)
		}
		if t := p.Sources[i].ServiceAccountToken; t != nil {
			check.SetDefault(&t.ExpirationSeconds, hour)
		}
	}
}
