package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Not validated: names of claims and other objects in volumes, which upstream does not validate either.

// volumes validates a spec's volumes and records the valid ones for the containers that mount them (core
// ValidateVolumes).
func (r *Rules) volumes(at *field.Path) (errs field.ErrorList) {
	made := map[string]bool{}
	for i := range r.spec.Volumes {
		if v := &r.spec.Volumes[i]; r.Name != "" && v.Ephemeral != nil {
			made[r.Name+"-"+v.Name] = true
		}
	}
	for i := range r.spec.Volumes {
		v, here := &r.spec.Volumes[i], at.Index(i)
		faults := r.volumeSource(v, here)
		if v.Name == "" {
			faults = append(faults, field.Required(here.Child("name"), ""))
		} else {
			faults = append(faults, check.DNSLabel(v.Name, here.Child("name"))...)
		}
		if r.mountable[v.Name] != nil {
			faults = append(faults, field.Duplicate(here.Child("name"), v.Name))
		}
		if len(faults) == 0 {
			r.mountable[v.Name] = &v.VolumeSource
		}
		errs = append(errs, faults...)
		if c := v.PersistentVolumeClaim; c != nil && made[c.ClaimName] {
			errs = append(errs, field.Invalid(here.Child("persistentVolumeClaim", "claimName"), c.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

func (r *Rules) volumeSource(v *corev1.Volume, at *field.Path) field.ErrorList {
	return oneSource(r.volumePlugins(&v.VolumeSource), at, func(name string, second bool) field.ErrorList {
		switch {
		case name == "ephemeral" && !second:
			return r.claimName(v, at)
		case name == "iscsi":
			return iscsiName(v, at)
		}
		return nil
	})
}

// volumePlugins are the sources of a pod's volume, in upstream's order of validation, with its spellings.
func (r *Rules) volumePlugins(s *corev1.VolumeSource) []volumePlugin {
	return []volumePlugin{
		plugin("emptyDir", s.EmptyDir, validateEmptyDir),
		plugin("hostPath", s.HostPath, validateHostPath),
		plugin("gitRepo", s.GitRepo, validateGitRepo),
		plugin("gcePersistentDisk", s.GCEPersistentDisk, validateGCE).under("persistentDisk"),
		plugin("awsElasticBlockStore", s.AWSElasticBlockStore, validateAWS),
		plugin("secret", s.Secret, validateSecret),
		plugin("nfs", s.NFS, validateNFS),
		plugin("iscsi", s.ISCSI, validateISCSI),
		plugin("glusterfs", s.Glusterfs, validateGlusterfs),
		plugin("flocker", s.Flocker, validateFlocker),
		plugin("persistentVolumeClaim", s.PersistentVolumeClaim, validateClaim),
		plugin("rbd", s.RBD, validateRBD),
		plugin("cinder", s.Cinder, validateCinder),
		plugin("cephfs", s.CephFS, validateCephFS).refusedAs("cephFS"),
		plugin("quobyte", s.Quobyte, validateQuobyte),
		plugin("downwardAPI", s.DownwardAPI, downwardVolume).refusedAs("downwarAPI"),
		plugin("fc", s.FC, validateFC),
		plugin("flexVolume", s.FlexVolume, validateFlex),
		plugin("configMap", s.ConfigMap, validateConfigMap),
		plugin("azureFile", s.AzureFile, validateAzureFile),
		plugin("vsphereVolume", s.VsphereVolume, validateVsphere),
		plugin("photonPersistentDisk", s.PhotonPersistentDisk, validatePhoton),
		plugin("portworxVolume", s.PortworxVolume, validatePortworx),
		plugin("azureDisk", s.AzureDisk, validateAzureDisk),
		plugin("storageos", s.StorageOS, validateStorageOS),
		plugin("projected", s.Projected, r.projectedVolume),
		plugin("scaleIO", s.ScaleIO, validateScaleIO),
		plugin("csi", s.CSI, validateCSI),
		plugin("ephemeral", s.Ephemeral, ephemeralVolume),
		plugin("image", s.Image, r.imageVolume),
	}
}

// claimName requires that the generated claim of an ephemeral volume has a valid name.
func (r *Rules) claimName(v *corev1.Volume, at *field.Path) (errs field.ErrorList) {
	if r.Name == "" || v.Name == "" {
		return nil
	}
	name := r.Name + "-" + v.Name
	for _, text := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(at.Child("name"), v.Name, fmt.Sprintf("PVC name %q: %v", name, text)))
	}
	return errs
}

func (r *Rules) imageVolume(s *corev1.ImageVolumeSource, at *field.Path) (errs field.ErrorList) {
	if s.Reference == "" && !r.had.emptyImages { // templates, too (V-062)
		errs = check.RequireAll(at, "reference", "")
	}
	return append(errs, PullPolicy(s.PullPolicy, at.Child("pullPolicy"))...)
}
