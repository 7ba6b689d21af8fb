package validation

import (
	"net"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

func emptyDirVolume(s *corev1.EmptyDirVolumeSource, at *field.Path) field.ErrorList {
	if s.SizeLimit != nil && s.SizeLimit.Sign() < 0 {
		return field.ErrorList{field.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")}
	}
	return nil
}

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
	corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket,
}

func hostPathVolume(s *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if s.Path == "" {
		return given(at, "path", "")
	}
	errs := noBacksteps(s.Path, at.Child("path"))
	if s.Type != nil {
		errs = append(errs, oneOf(*s.Type, at.Child("type"), hostPathTypes)...)
	}
	return errs
}

func gitRepoVolume(s *corev1.GitRepoVolumeSource, at *field.Path) field.ErrorList {
	return append(given(at, "repository", s.Repository), descending(s.Directory, at.Child("directory"))...)
}

// diskPartition allows 0, for no partition, though its text doesn't say so.
func diskPartition(n int32, at *field.Path) field.ErrorList {
	if n >= 0 && n <= 255 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, utilvalidation.InclusiveRangeError(1, 255))}
}

func gceVolume(s *corev1.GCEPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return append(given(at, "pdName", s.PDName), diskPartition(s.Partition, at.Child("partition"))...)
}

func awsVolume(s *corev1.AWSElasticBlockStoreVolumeSource, at *field.Path) field.ErrorList {
	return append(given(at, "volumeID", s.VolumeID), diskPartition(s.Partition, at.Child("partition"))...)
}

func secretVolume(s *corev1.SecretVolumeSource, at *field.Path) field.ErrorList {
	errs := append(given(at, "secretName", s.SecretName), fileMode(s.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, keysToPaths(s.Items, at.Child("items"))...)
}

func configMapVolume(s *corev1.ConfigMapVolumeSource, at *field.Path) field.ErrorList {
	errs := append(given(at, "name", s.Name), fileMode(s.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, keysToPaths(s.Items, at.Child("items"))...)
}

func keysToPaths(items []corev1.KeyToPath, at *field.Path) (errs field.ErrorList) {
	for i := range invalid.Each(items, &errs) {
		errs = append(errs, keyToPath(&items[i], at.Index(i))...)
	}
	return errs
}

func keyToPath(k *corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := append(given(at, "key", k.Key, "path", k.Path), projectedPath(k.Path, at.Child("path"))...)
	return append(errs, fileMode(k.Mode, at.Child("mode"))...)
}

func nfsVolume(s *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	errs := given(at, "server", s.Server, "path", s.Path)
	if !path.IsAbs(s.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), s.Path, "must be an absolute path"))
	}
	return errs
}

func glusterfsVolume(s *corev1.GlusterfsVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "endpoints", s.EndpointsName, "path", s.Path)
}

func flockerVolume(s *corev1.FlockerVolumeSource, at *field.Path) (errs field.ErrorList) {
	if s.DatasetName == "" && s.DatasetUUID == "" {
		errs = append(errs, field.Required(at, "one of datasetName and datasetUUID is required"))
	}
	if s.DatasetName != "" && s.DatasetUUID != "" {
		errs = append(errs, field.Invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(s.DatasetName, "/") {
		errs = append(errs, field.Invalid(at.Child("datasetName"), s.DatasetName, "must not contain '/'"))
	}
	return errs
}

func claimVolume(s *corev1.PersistentVolumeClaimVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "claimName", s.ClaimName)
}

func rbdVolume(s *corev1.RBDVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "monitors", strings.Join(s.CephMonitors, ","), "image", s.RBDImage)
}

// secretName wants a reference that is there to say to what.
func secretName(ref *corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return given(at, "name", ref.Name)
}

func cinderVolume(s *corev1.CinderVolumeSource, at *field.Path) field.ErrorList {
	return append(given(at, "volumeID", s.VolumeID), secretName(s.SecretRef, at.Child("secretRef"))...)
}

func cephFSVolume(s *corev1.CephFSVolumeSource, at *field.Path) field.ErrorList {
	if len(s.Monitors) == 0 {
		return given(at, "monitors", "")
	}
	return nil
}

func quobyteVolume(s *corev1.QuobyteVolumeSource, at *field.Path) (errs field.ErrorList) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	switch {
	case s.Registry == "":
		errs = append(errs, field.Required(at.Child("registry"), pairs))
	case len(s.Tenant) >= 65:
		errs = append(errs, field.Required(at.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for _, pair := range invalid.Each(strings.Split(s.Registry, ","), &errs) {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(at.Child("registry"), s.Registry, pairs))
			}
		}
	}
	return append(errs, given(at, "volume", s.Volume)...)
}

func fcVolume(s *corev1.FCVolumeSource, at *field.Path) (errs field.ErrorList) {
	names := at.Child("targetWWNs")
	if len(s.TargetWWNs) == 0 && len(s.WWIDs) == 0 {
		errs = append(errs, field.Required(names, "must specify either targetWWNs or wwids, but not both"))
	}
	if len(s.TargetWWNs) != 0 && len(s.WWIDs) != 0 {
		errs = append(errs, field.Invalid(names, s.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	switch {
	case len(s.TargetWWNs) == 0:
	case s.Lun == nil:
		errs = append(errs, field.Required(at.Child("lun"), "lun is required if targetWWNs is specified"))
	case *s.Lun < 0 || *s.Lun > 255:
		errs = append(errs, field.Invalid(at.Child("lun"), s.Lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	return errs
}

func flexVolume(s *corev1.FlexVolumeSource, at *field.Path) field.ErrorList {
	return append(given(at, "driver", s.Driver), flexOptions(s.Options, at.Child("options"))...)
}

// flexOptions keeps Kubernetes' own prefixes for itself.
func flexOptions(options map[string]string, at *field.Path) (errs field.ErrorList) {
	for _, key := range invalid.Each(sorted(options), &errs) {
		space, _, _ := strings.Cut(key, "/")
		domain := "." + strings.ToLower(space)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(at.Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func azureFileVolume(s *corev1.AzureFileVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "secretName", s.SecretName, "shareName", s.ShareName)
}

func vsphereVolume(s *corev1.VsphereVirtualDiskVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "volumePath", s.VolumePath)
}

func photonVolume(s *corev1.PhotonPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "pdID", s.PdID)
}

func portworxVolume(s *corev1.PortworxVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "volumeID", s.VolumeID)
}

var (
	azureCachings = []corev1.AzureDataDiskCachingMode{corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite}
	azureKinds    = []corev1.AzureDataDiskKind{corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk}
)

func azureDiskVolume(s *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := given(at, "diskName", s.DiskName, "diskURI", s.DataDiskURI)
	if s.CachingMode != nil {
		errs = append(errs, oneOf(*s.CachingMode, at.Child("cachingMode"), azureCachings)...)
	}
	if s.Kind == nil {
		return errs
	}
	errs = append(errs, oneOf(*s.Kind, at.Child("kind"), azureKinds)...)
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if *s.Kind == corev1.AzureManagedDisk {
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if !strings.HasPrefix(s.DataDiskURI, prefix) {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), s.DataDiskURI, []string{form}))
	}
	return errs
}

func scaleIOVolume(s *corev1.ScaleIOVolumeSource, at *field.Path) field.ErrorList {
	return given(at, "gateway", s.Gateway, "system", s.System, "volumeName", s.VolumeName)
}

func storageOSVolume(s *corev1.StorageOSVolumeSource, at *field.Path) field.ErrorList {
	errs := given(at, "volumeName", s.VolumeName)
	if s.VolumeName != "" {
		errs = append(errs, label(s.VolumeName, at.Child("volumeName"))...)
	}
	if s.VolumeNamespace != "" {
		errs = append(errs, label(s.VolumeNamespace, at.Child("volumeNamespace"))...)
	}
	return append(errs, secretName(s.SecretRef, at.Child("secretRef"))...)
}

// csiDriver wants a driver's name, whose case doesn't matter.
func csiDriver(name string, at *field.Path) (errs field.ErrorList) {
	if name == "" {
		errs = append(errs, field.Required(at, ""))
	}
	if len(name) > 63 {
		errs = append(errs, field.TooLong(at, "", 63))
	}
	for _, text := range utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)) {
		errs = append(errs, field.Invalid(at, name, text))
	}
	return errs
}

func csiVolume(s *corev1.CSIVolumeSource, at *field.Path) field.ErrorList {
	errs := csiDriver(s.Driver, at.Child("driver"))
	ref := s.NodePublishSecretRef
	switch {
	case ref == nil:
	case ref.Name == "":
		errs = append(errs, given(at.Child("nodePublishSecretRef"), "name", "")...)
	default:
		errs = append(errs, subdomain(ref.Name, at.Child("name"))...)
	}
	return errs
}

func (r *podRules) imageVolume(s *corev1.ImageVolumeSource, at *field.Path) (errs field.ErrorList) {
	if r.pod && s.Reference == "" {
		errs = given(at, "reference", "")
	}
	return append(errs, pullPolicy(s.PullPolicy, at.Child("pullPolicy"))...)
}

var pullPolicies = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}

func pullPolicy(p corev1.PullPolicy, at *field.Path) field.ErrorList {
	return required(p, at, pullPolicies)
}

// required wants one of the values and reports none at all as such.
func required[T ~string](value T, at *field.Path, values []T) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(at, "")}
	case slices.Contains(values, value):
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, values)}
}
