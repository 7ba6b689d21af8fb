package podspec

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// OneSource requires exactly one source of a persistent volume, which may not be the root directory of a node if it is
// recycled. The order of validation and the names in paths are upstream's.
func OneSource(s *corev1.PersistentVolumeSpec, name string, at *field.Path) field.ErrorList {
	errs := exactlyOne("volume", []alternative{
		alternativeOf("hostPath", s.HostPath, validateHostPath),
		alternativeOf("persistentDisk", s.GCEPersistentDisk, validateGCE).secondAs("gcePersistentDisk"),
		alternativeOf("awsElasticBlockStore", s.AWSElasticBlockStore, validateAWS),
		alternativeOf("glusterfs", s.Glusterfs, glusterfsPlugin),
		alternativeOf("flocker", s.Flocker, validateFlocker),
		alternativeOf("nfs", s.NFS, validateNFS),
		alternativeOf("rbd", s.RBD, needs[corev1.RBDPersistentVolumeSource]("monitors", "image")),
		alternativeOf("quobyte", s.Quobyte, validateQuobyte),
		alternativeOf("cephfs", s.CephFS, needs[corev1.CephFSPersistentVolumeSource]("monitors")).secondAs("cephFS"),
		alternativeOf("iscsi", s.ISCSI, func(v *corev1.ISCSIPersistentVolumeSource, at *field.Path) field.ErrorList {
			return iscsiPlugin(v, name, at)
		}),
		alternativeOf("cinder", s.Cinder, func(v *corev1.CinderPersistentVolumeSource, at *field.Path) field.ErrorList {
			secret := needs[corev1.SecretReference]("name", "namespace")
			return append(check.RequireAll(at, "volumeID", v.VolumeID),
				check.Optional(v.SecretRef, at.Child("secretRef"), secret)...)
		}),
		alternativeOf("fc", s.FC, validateFC),
		alternativeOf("flexVolume", s.FlexVolume, func(v *corev1.FlexPersistentVolumeSource, at *field.Path) field.ErrorList {
			return append(check.RequireAll(at, "driver", v.Driver), flexOptions(v.Options, at.Child("options"))...)
		}).evenSecond(),
		alternativeOf("azureFile", s.AzureFile, azureFilePlugin),
		alternativeOf("vsphereVolume", s.VsphereVolume, needs[corev1.VsphereVirtualDiskVolumeSource]("volumePath")),
		alternativeOf("photonPersistentDisk", s.PhotonPersistentDisk,
			needs[corev1.PhotonPersistentDiskVolumeSource]("pdID")),
		alternativeOf("portworxVolume", s.PortworxVolume, needs[corev1.PortworxVolumeSource]("volumeID")),
		alternativeOf("azureDisk", s.AzureDisk, validateAzureDisk),
		alternativeOf("scaleIO", s.ScaleIO,
			needs[corev1.ScaleIOPersistentVolumeSource]("gateway", "system", "volumeName")),
		alternativeOf("local", s.Local, func(v *corev1.LocalVolumeSource, here *field.Path) field.ErrorList {
			errs := append(check.RequireAll(here, "path", v.Path), NoBacksteps(v.Path, here.Child("path"))...)
			return append(errs, check.Present(s.NodeAffinity != nil, at.Child("nodeAffinity"),
				"Local volume requires node affinity")...)
		}),
		alternativeOf("storageos", s.StorageOS, storageOSPlugin),
		alternativeOf("csi", s.CSI, csiPlugin),
	}, at)
	recycles := s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle
	return append(errs, check.Forbid(recycles && s.HostPath != nil && path.Clean(s.HostPath.Path) == "/",
		at.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'")...)
}

func glusterfsPlugin(v *corev1.GlusterfsPersistentVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "endpoints", v.EndpointsName, "path", v.Path),
		check.Given(v.EndpointsNamespace, at.Child("endpointsNamespace"), endpointsNamespace)...)
}

func endpointsNamespace(ns string, at *field.Path) field.ErrorList {
	if ns == "" {
		return field.ErrorList{field.Invalid(at, ns, "if the endpointnamespace is set, it must be a valid namespace name")}
	}
	return check.DNSLabel(ns, at)
}

func iscsiPlugin(v *corev1.ISCSIPersistentVolumeSource, name string, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "targetPortal", v.TargetPortal)
	errs = append(errs, iscsiName(v.InitiatorName, name, v.TargetPortal, v.TargetPortal, at.Child("targetportal"))...)
	secret := check.Present(v.SecretRef != nil || !v.DiscoveryCHAPAuth && !v.SessionCHAPAuth, at.Child("secretRef"), "")
	if v.SecretRef != nil {
		secret = check.RequireAll(at.Child("secretRef"), "name", v.SecretRef.Name)
	}
	return append(errs, iscsiTarget(v.IQN, v.Lun, v.InitiatorName, wrongForm, secret, at)...)
}

func azureFilePlugin(v *corev1.AzureFilePersistentVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "secretName", v.SecretName, "shareName", v.ShareName),
		check.Present(v.SecretNamespace == nil || *v.SecretNamespace != "", at.Child("secretNamespace"), "")...)
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

func csiPlugin(v *corev1.CSIPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := append(CSIDriver(v.Driver, at.Child("driver")), check.RequireAll(at, "volumeHandle", v.VolumeHandle)...)
	secret := func(name string, ref *corev1.SecretReference) {
		if ref != nil {
			errs = append(errs, check.Needed(ref.Name, at.Child(name, "name"), check.DNSSubdomain)...)
			errs = append(errs, check.Needed(ref.Namespace, at.Child(name, "namespace"), check.DNSLabel)...)
		}
	}
	secret("controllerPublishSecretRef", v.ControllerPublishSecretRef)
	secret("controllerExpandSecretRef", v.ControllerExpandSecretRef)
	secret("nodePublishSecretRef", v.NodePublishSecretRef)
	secret("nodeExpandSecretRef", v.NodeExpandSecretRef)
	return errs
}
