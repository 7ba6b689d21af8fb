package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// Not validated: names of claims and other objects in volumes, which upstream does not validate either.

// volumes validates a spec's volumes, and records the valid ones for the validation of mounts (core ValidateVolumes).
func (r *Rules) volumes(at *field.Path) (errs field.ErrorList) {
	made := map[string]bool{}
	for i := range r.spec.Volumes {
		if v := &r.spec.Volumes[i]; r.Name != "" && v.Ephemeral != nil {
			made[r.Name+"-"+v.Name] = true
		}
	}
	for i := range r.spec.Volumes {
		v, here := &r.spec.Volumes[i], at.Index(i)
		faults := exactlyOne("volume", r.volumeSources(v, here), here)
		faults = append(faults, check.Needed(v.Name, here.Child("name"), check.DNSLabel)...)
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

// volumeSources returns the sources of a pod's volume in upstream's order of validation. The names in paths are
// upstream's.
func (r *Rules) volumeSources(v *corev1.Volume, at *field.Path) []alternative {
	s := &v.VolumeSource
	return []alternative{
		alternativeOf("emptyDir", s.EmptyDir, validateEmptyDir),
		alternativeOf("hostPath", s.HostPath, validateHostPath),
		alternativeOf("gitRepo", s.GitRepo, validateGitRepo),
		alternativeOf("persistentDisk", s.GCEPersistentDisk, validateGCE).secondAs("gcePersistentDisk"),
		alternativeOf("awsElasticBlockStore", s.AWSElasticBlockStore, validateAWS),
		alternativeOf("secret", s.Secret, validateSecret),
		alternativeOf("nfs", s.NFS, validateNFS),
		alternativeOf("iscsi", s.ISCSI, validateISCSI),
		alternativeOf("iscsi", s.ISCSI, func(s *corev1.ISCSIVolumeSource, _ *field.Path) field.ErrorList {
			return iscsiName(s.InitiatorName, v.Name, s.TargetPortal, v.Name, at.Child("name"))
		}).evenSecond(),
		alternativeOf("glusterfs", s.Glusterfs, needs[corev1.GlusterfsVolumeSource]("endpoints", "path")),
		alternativeOf("flocker", s.Flocker, validateFlocker),
		alternativeOf("persistentVolumeClaim", s.PersistentVolumeClaim,
			needs[corev1.PersistentVolumeClaimVolumeSource]("claimName")),
		alternativeOf("rbd", s.RBD, needs[corev1.RBDVolumeSource]("monitors", "image")),
		alternativeOf("cinder", s.Cinder, validateCinder),
		alternativeOf("cephfs", s.CephFS, needs[corev1.CephFSVolumeSource]("monitors")).secondAs("cephFS"),
		alternativeOf("quobyte", s.Quobyte, validateQuobyte),
		alternativeOf("downwardAPI", s.DownwardAPI, downwardVolume).secondAs("downwarAPI"),
		alternativeOf("fc", s.FC, validateFC),
		alternativeOf("flexVolume", s.FlexVolume, validateFlex),
		alternativeOf("configMap", s.ConfigMap, validateConfigMap),
		alternativeOf("azureFile", s.AzureFile, needs[corev1.AzureFileVolumeSource]("secretName", "shareName")),
		alternativeOf("vsphereVolume", s.VsphereVolume, needs[corev1.VsphereVirtualDiskVolumeSource]("volumePath")),
		alternativeOf("photonPersistentDisk", s.PhotonPersistentDisk,
			needs[corev1.PhotonPersistentDiskVolumeSource]("pdID")),
		alternativeOf("portworxVolume", s.PortworxVolume, needs[corev1.PortworxVolumeSource]("volumeID")),
		alternativeOf("azureDisk", s.AzureDisk, validateAzureDisk),
		alternativeOf("storageos", s.StorageOS, validateStorageOS),
		alternativeOf("projected", s.Projected, r.projectedVolume),
		alternativeOf("scaleIO", s.ScaleIO, needs[corev1.ScaleIOVolumeSource]("gateway", "system", "volumeName")),
		alternativeOf("csi", s.CSI, validateCSI),
		alternativeOf("ephemeral", s.Ephemeral, func(s *corev1.EphemeralVolumeSource, here *field.Path) field.ErrorList {
			return append(ephemeralVolume(s, here), r.claimName(v.Name, at.Child("name"))...)
		}),
		alternativeOf("image", s.Image, r.imageVolume),
	}
}

// claimName requires that the claim that is generated for an ephemeral volume has a valid name.
func (r *Rules) claimName(volume string, at *field.Path) (errs field.ErrorList) {
	if r.Name == "" || volume == "" {
		return nil
	}
	name := r.Name + "-" + volume
	for _, text := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(at, volume, fmt.Sprintf("PVC name %q: %v", name, text)))
	}
	return errs
}

func (r *Rules) imageVolume(s *corev1.ImageVolumeSource, at *field.Path) (errs field.ErrorList) {
	errs = check.Present(s.Reference != "" || r.had.emptyImages, at.Child("reference"), "") // also in templates (V-062)
	return append(errs, PullPolicy(s.PullPolicy, at.Child("pullPolicy"))...)
}

// alternative is one of several parts that exclude each other: a source of a volume, or an action of a probe.
type alternative struct {
	// name is the part's name in paths. second is its name if another part precedes it.
	name, second string
	// validate is nil if the object does not have this part.
	validate func(at *field.Path) field.ErrorList
	// always reports whether a second part is validated instead of rejected.
	always bool
}

func alternativeOf[T any](name string, part *T, validate func(*T, *field.Path) field.ErrorList) alternative {
	if part == nil {
		return alternative{}
	}
	return alternative{name: name, second: name,
		validate: func(at *field.Path) field.ErrorList { return validate(part, at) }}
}

func (a alternative) secondAs(name string) alternative {
	a.second = name
	return a
}

func (a alternative) evenSecond() alternative {
	a.always = true
	return a
}

func exactlyOne(what string, all []alternative, at *field.Path) (errs field.ErrorList) {
	found := false
	for _, a := range all {
		if a.validate == nil {
			continue
		}
		if found && !a.always {
			errs = append(errs, field.Forbidden(at.Child(a.second), "may not specify more than 1 "+what+" type"))
		} else {
			errs = append(errs, a.validate(at.Child(a.name))...)
		}
		found = true
	}
	return append(errs, check.Present(found, at, "must specify a "+what+" type")...)
}

// validateEach validates all parts that an object has, and returns their number.
func validateEach(all []alternative, at *field.Path) (errs field.ErrorList, found int) {
	for _, a := range all {
		if a.validate != nil {
			found++
			errs = append(errs, a.validate(at.Child(a.name))...)
		}
	}
	return errs, found
}
