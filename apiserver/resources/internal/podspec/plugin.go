package podspec

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// A volumePlugin is one kind of volume. A second source is rejected with the path name. Errors of the only source have
// the path at, which may differ.
type volumePlugin struct {
	name, at string
	// validate is nil if the volume has no such source.
	validate func(at *field.Path) field.ErrorList
	// always makes a second source be validated instead of rejected.
	always bool
}

// under moves errors to a path with another name than the source's.
func (p volumePlugin) under(at string) volumePlugin {
	p.at = at
	return p
}

// refusedAs rejects a second source with another name than the source's.
func (p volumePlugin) refusedAs(name string) volumePlugin {
	p.name = name
	return p
}

// evenSecond validates a second source instead of rejecting it.
func (p volumePlugin) evenSecond() volumePlugin {
	p.always = true
	return p
}

func plugin[T any](name string, source *T, validate func(*T, *field.Path) field.ErrorList) volumePlugin {
	if source == nil {
		return volumePlugin{}
	}
	return volumePlugin{name: name, at: name,
		validate: func(at *field.Path) field.ErrorList { return validate(source, at) }}
}

// oneSource requires exactly one source. after validates more for each source that is set.
func oneSource(all []volumePlugin, at *field.Path, after func(name string, second bool) field.ErrorList) (
	errs field.ErrorList) {
	found := false
	for _, p := range all {
		if p.validate == nil {
			continue
		}
		if found && !p.always {
			errs = append(errs, field.Forbidden(at.Child(p.name), "may not specify more than 1 volume type"))
		} else {
			errs = append(errs, p.validate(at.Child(p.at))...)
		}
		errs = append(errs, after(p.name, found)...)
		found = true
	}
	if !found {
		errs = append(errs, field.Required(at, "must specify a volume type"))
	}
	return errs
}

// OneSource requires exactly one source of a persistent volume.
func OneSource(s *corev1.PersistentVolumeSpec, name string, at *field.Path) field.ErrorList {
	return oneSource(persistentPlugins(s, name), at, func(name string, second bool) field.ErrorList {
		if name == "local" && !second && s.NodeAffinity == nil {
			return field.ErrorList{field.Required(at.Child("nodeAffinity"), "Local volume requires node affinity")}
		}
		return nil
	})
}

// persistentPlugins are the sources of a persistent volume, in upstream's order of validation, with its spellings.
func persistentPlugins(s *corev1.PersistentVolumeSpec, name string) []volumePlugin {
	return []volumePlugin{
		plugin("hostPath", s.HostPath, validateHostPath),
		plugin("gcePersistentDisk", s.GCEPersistentDisk, validateGCE).under("persistentDisk"),
		plugin("awsElasticBlockStore", s.AWSElasticBlockStore, validateAWS),
		plugin("glusterfs", s.Glusterfs, glusterfsPlugin),
		plugin("flocker", s.Flocker, validateFlocker),
		plugin("nfs", s.NFS, validateNFS),
		plugin("rbd", s.RBD, func(v *corev1.RBDPersistentVolumeSource, at *field.Path) field.ErrorList {
			return validateRBD(&corev1.RBDVolumeSource{CephMonitors: v.CephMonitors, RBDImage: v.RBDImage}, at)
		}),
		plugin("quobyte", s.Quobyte, validateQuobyte),
		plugin("cephfs", s.CephFS, func(v *corev1.CephFSPersistentVolumeSource, at *field.Path) field.ErrorList {
			return validateCephFS(&corev1.CephFSVolumeSource{Monitors: v.Monitors}, at)
		}).refusedAs("cephFS"),
		plugin("iscsi", s.ISCSI, func(v *corev1.ISCSIPersistentVolumeSource, at *field.Path) field.ErrorList {
			return iscsiPlugin(v, name, at)
		}),
		plugin("cinder", s.Cinder, func(v *corev1.CinderPersistentVolumeSource, at *field.Path) field.ErrorList {
			return append(check.RequireAll(at, "volumeID", v.VolumeID), secretAnywhere(v.SecretRef, at.Child("secretRef"))...)
		}),
		plugin("fc", s.FC, validateFC),
		plugin("flexVolume", s.FlexVolume, func(v *corev1.FlexPersistentVolumeSource, at *field.Path) field.ErrorList {
			return append(check.RequireAll(at, "driver", v.Driver), flexOptions(v.Options, at.Child("options"))...)
		}).evenSecond(),
		plugin("azureFile", s.AzureFile, azureFilePlugin),
		plugin("vsphereVolume", s.VsphereVolume, validateVsphere),
		plugin("photonPersistentDisk", s.PhotonPersistentDisk, validatePhoton),
		plugin("portworxVolume", s.PortworxVolume, validatePortworx),
		plugin("azureDisk", s.AzureDisk, validateAzureDisk),
		plugin("scaleIO", s.ScaleIO, func(v *corev1.ScaleIOPersistentVolumeSource, at *field.Path) field.ErrorList {
			return check.RequireAll(at, "gateway", v.Gateway, "system", v.System, "volumeName", v.VolumeName)
		}),
		plugin("local", s.Local, func(v *corev1.LocalVolumeSource, at *field.Path) field.ErrorList {
			return append(check.RequireAll(at, "path", v.Path), NoBacksteps(v.Path, at.Child("path"))...)
		}),
		plugin("storageos", s.StorageOS, storageOSPlugin),
		plugin("csi", s.CSI, csiPlugin),
	}
}

func glusterfsPlugin(v *corev1.GlusterfsPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "endpoints", v.EndpointsName, "path", v.Path)
	if ns := v.EndpointsNamespace; ns != nil {
		if *ns == "" {
			return append(errs, field.Invalid(at.Child("endpointsNamespace"), *ns,
				"if the endpointnamespace is set, it must be a valid namespace name"))
		}
		errs = append(errs, check.Apply(*ns, at.Child("endpointsNamespace"),
			check.WholeName(apivalidation.ValidateNamespaceName))...)
	}
	return errs
}

func iscsiPlugin(v *corev1.ISCSIPersistentVolumeSource, name string, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "targetPortal", v.TargetPortal)
	if v.InitiatorName != nil && len(name+":"+v.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(at.Child("targetportal"), v.TargetPortal,
			"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
	}
	if v.IQN == "" {
		errs = append(errs, field.Required(at.Child("iqn"), ""))
	} else {
		errs = append(errs, iscsiQualified(v.IQN, at.Child("iqn"), "must be valid format")...)
	}
	if v.Lun < 0 || v.Lun > 255 {
		errs = append(errs, field.Invalid(at.Child("lun"), v.Lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	if (v.DiscoveryCHAPAuth || v.SessionCHAPAuth) && v.SecretRef == nil {
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if v.SecretRef != nil {
		errs = append(errs, check.RequireAll(at.Child("secretRef"), "name", v.SecretRef.Name)...)
	}
	if v.InitiatorName != nil {
		errs = append(errs, iscsiQualified(*v.InitiatorName, at.Child("initiatorname"), "must be valid format")...)
	}
	return errs
}

func azureFilePlugin(v *corev1.AzureFilePersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "secretName", v.SecretName, "shareName", v.ShareName)
	if v.SecretNamespace != nil {
		errs = append(errs, check.RequireAll(at, "secretNamespace", *v.SecretNamespace)...)
	}
	return errs
}

func storageOSPlugin(v *corev1.StorageOSPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := validateStorageOS(
		&corev1.StorageOSVolumeSource{VolumeName: v.VolumeName, VolumeNamespace: v.VolumeNamespace}, at,
	)
	if r := v.SecretRef; r != nil {
		errs = append(errs, check.RequireAll(at.Child("secretRef"), "name", r.Name, "namespace", r.Namespace)...)
	}
	return errs
}

func secretAnywhere(r *corev1.SecretReference, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return check.RequireAll(at, "name", r.Name, "namespace", r.Namespace)
}

func csiPlugin(v *corev1.CSIPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := append(CSIDriver(v.Driver, at.Child("driver")), check.RequireAll(at, "volumeHandle", v.VolumeHandle)...)
	for _, ref := range []struct {
		name string
		*corev1.SecretReference
	}{
		{"controllerPublishSecretRef", v.ControllerPublishSecretRef},
		{"controllerExpandSecretRef", v.ControllerExpandSecretRef},
		{"nodePublishSecretRef", v.NodePublishSecretRef}, {"nodeExpandSecretRef", v.NodeExpandSecretRef},
	} {
		if ref.SecretReference == nil {
			continue
		}
		at := at.Child(ref.name)
		if ref.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, check.DNSSubdomain(ref.Name, at.Child("name"))...)
		}
		if ref.Namespace == "" {
			errs = append(errs, field.Required(at.Child("namespace"), ""))
		} else {
			errs = append(errs, check.DNSLabel(ref.Namespace, at.Child("namespace"))...)
		}
	}
	return errs
}
