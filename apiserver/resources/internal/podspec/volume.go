package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func init() {
	type s = corev1.VolumeSource
	iscsi := sourceOf("iscsi", func(s *s) *corev1.ISCSIVolumeSource { return s.ISCSI }, ValidateISCSI)
	iscsi.also = ISCSIName
	volumeTypes = []volumeType{
		sourceOf("emptyDir", func(s *s) *corev1.EmptyDirVolumeSource { return s.EmptyDir }, ValidateEmptyDir),
		sourceOf("hostPath", func(s *s) *corev1.HostPathVolumeSource { return s.HostPath }, ValidateHostPath),
		sourceOf("gitRepo", func(s *s) *corev1.GitRepoVolumeSource { return s.GitRepo }, ValidateGitRepo),
		sourceOf("gcePersistentDisk", func(s *s) *corev1.GCEPersistentDiskVolumeSource {
			return s.GCEPersistentDisk
		}, ValidateGCE).under("persistentDisk"),
		sourceOf("awsElasticBlockStore", func(s *s) *corev1.AWSElasticBlockStoreVolumeSource {
			return s.AWSElasticBlockStore
		}, ValidateAWS),
		sourceOf("secret", func(s *s) *corev1.SecretVolumeSource { return s.Secret }, ValidateSecret),
		sourceOf("nfs", func(s *s) *corev1.NFSVolumeSource { return s.NFS }, ValidateNFS),
		iscsi,
		sourceOf("glusterfs", func(s *s) *corev1.GlusterfsVolumeSource { return s.Glusterfs }, ValidateGlusterfs),
		sourceOf("flocker", func(s *s) *corev1.FlockerVolumeSource { return s.Flocker }, ValidateFlocker),
		sourceOf("persistentVolumeClaim", func(s *s) *corev1.PersistentVolumeClaimVolumeSource {
			return s.PersistentVolumeClaim
		}, ValidateClaim),
		sourceOf("rbd", func(s *s) *corev1.RBDVolumeSource { return s.RBD }, ValidateRBD),
		sourceOf("cinder", func(s *s) *corev1.CinderVolumeSource { return s.Cinder }, ValidateCinder),
		sourceOf("cephfs", func(s *s) *corev1.CephFSVolumeSource {
			return s.CephFS
		}, ValidateCephFS).refusedAs("cephFS"),
		sourceOf("quobyte", func(s *s) *corev1.QuobyteVolumeSource { return s.Quobyte }, ValidateQuobyte),
		sourceOf("downwardAPI", func(s *s) *corev1.DownwardAPIVolumeSource {
			return s.DownwardAPI
		}, downwardVolume).refusedAs("downwarAPI"),
		sourceOf("fc", func(s *s) *corev1.FCVolumeSource { return s.FC }, ValidateFC),
		sourceOf("flexVolume", func(s *s) *corev1.FlexVolumeSource { return s.FlexVolume }, ValidateFlex),
		sourceOf("configMap", func(s *s) *corev1.ConfigMapVolumeSource { return s.ConfigMap }, ValidateConfigMap),
		sourceOf("azureFile", func(s *s) *corev1.AzureFileVolumeSource { return s.AzureFile }, ValidateAzureFile),
		sourceOf("vsphereVolume", func(s *s) *corev1.VsphereVirtualDiskVolumeSource {
			return s.VsphereVolume
		}, ValidateVsphere),
		sourceOf("photonPersistentDisk", func(s *s) *corev1.PhotonPersistentDiskVolumeSource {
			return s.PhotonPersistentDisk
		}, ValidatePhoton),
		sourceOf("portworxVolume", func(s *s) *corev1.PortworxVolumeSource {
			return s.PortworxVolume
		}, ValidatePortworx),
		sourceOf("azureDisk", func(s *s) *corev1.AzureDiskVolumeSource { return s.AzureDisk }, ValidateAzureDisk),
		sourceOf("storageos", func(s *s) *corev1.StorageOSVolumeSource { return s.StorageOS }, ValidateStorageOS),
		sourceByRules("projected", func(s *s) *corev1.ProjectedVolumeSource { return s.Projected }, (*Rules).projectedVolume),
		sourceOf("scaleIO", func(s *s) *corev1.ScaleIOVolumeSource { return s.ScaleIO }, ValidateScaleIO),
		sourceOf("csi", func(s *s) *corev1.CSIVolumeSource { return s.CSI }, ValidateCSI),
		sourceOf("ephemeral", func(s *s) *corev1.EphemeralVolumeSource { return s.Ephemeral }, ephemeralVolume),
		sourceByRules("image", func(s *s) *corev1.ImageVolumeSource { return s.Image }, (*Rules).imageVolume),
	}
}

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

// A volumeType is one kind of source. A second source is rejected with the path name. Errors of the only source have
// the path at, which may differ.
type volumeType struct {
	name, at string
	has      func(s *corev1.VolumeSource) bool
	validate func(r *Rules, s *corev1.VolumeSource, at *field.Path) field.ErrorList
	// also is validated even if it is a second source.
	also func(v *corev1.Volume, at *field.Path) field.ErrorList
}

// under moves errors to a path with another name than the source's.
func (t volumeType) under(at string) volumeType {
	t.at = at
	return t
}

// refusedAs rejects a second source with another name than the source's.
func (t volumeType) refusedAs(name string) volumeType {
	t.name = name
	return t
}

func sourceOf[T any](
	name string, get func(*corev1.VolumeSource) *T, validate func(*T, *field.Path) field.ErrorList,
) volumeType {
	return volumeType{
		name: name, at: name,
		has: func(s *corev1.VolumeSource) bool { return get(s) != nil },
		validate: func(_ *Rules, s *corev1.VolumeSource, at *field.Path) field.ErrorList {
			return validate(get(s), at)
		},
	}
}

func sourceByRules[T any](
	name string, get func(*corev1.VolumeSource) *T, validate func(*Rules, *T, *field.Path) field.ErrorList,
) volumeType {
	return volumeType{
		name: name, at: name,
		has: func(s *corev1.VolumeSource) bool { return get(s) != nil },
		validate: func(r *Rules, s *corev1.VolumeSource, at *field.Path) field.ErrorList {
			return validate(r, get(s), at)
		},
	}
}

// volumeTypes are in upstream's order of validation, with its spellings.
var volumeTypes []volumeType

func (r *Rules) volumeSource(v *corev1.Volume, at *field.Path) (errs field.ErrorList) {
	found := false
	for _, t := range volumeTypes {
		if !t.has(&v.VolumeSource) {
			continue
		}
		if found {
			errs = append(errs, field.Forbidden(at.Child(t.name), "may not specify more than 1 volume type"))
		} else {
			errs = append(errs, t.validate(r, &v.VolumeSource, at.Child(t.at))...)
			if t.name == "ephemeral" {
				errs = append(errs, r.claimName(v, at)...)
			}
		}
		if t.also != nil {
			errs = append(errs, t.also(v, at)...)
		}
		found = true
	}
	if !found {
		errs = append(errs, field.Required(at, "must specify a volume type"))
	}
	return errs
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
