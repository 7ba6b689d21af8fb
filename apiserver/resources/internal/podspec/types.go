package podspec

import (
	"net"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func validateEmptyDir(s *corev1.EmptyDirVolumeSource, at *field.Path) field.ErrorList {
	if s.SizeLimit != nil && s.SizeLimit.Sign() < 0 {
		return field.ErrorList{field.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")}
	}
	return nil
}

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
	corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket,
}

func validateHostPath(s *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if s.Path == "" {
		return check.RequireAll(at, "path", "")
	}
	errs := NoBacksteps(s.Path, at.Child("path"))
	if s.Type != nil {
		errs = append(errs, check.OneOf(*s.Type, at.Child("type"), hostPathTypes)...)
	}
	return errs
}

func validateGitRepo(s *corev1.GitRepoVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "repository", s.Repository), Descending(s.Directory, at.Child("directory"))...)
}

// diskPartition accepts 0, for no partition, though its message does not mention it.
func diskPartition(n int32, at *field.Path) field.ErrorList {
	if n >= 0 && n <= 255 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, utilvalidation.InclusiveRangeError(1, 255))}
}

func validateGCE(s *corev1.GCEPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "pdName", s.PDName), diskPartition(s.Partition, at.Child("partition"))...)
}

func validateAWS(s *corev1.AWSElasticBlockStoreVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "volumeID", s.VolumeID), diskPartition(s.Partition, at.Child("partition"))...)
}

func validateSecret(s *corev1.SecretVolumeSource, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "secretName", s.SecretName), FileMode(s.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, keysToPaths(s.Items, at.Child("items"))...)
}

func validateConfigMap(s *corev1.ConfigMapVolumeSource, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "name", s.Name), FileMode(s.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, keysToPaths(s.Items, at.Child("items"))...)
}

func keysToPaths(items []corev1.KeyToPath, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Each(items, at, KeyToPath)...)
	return errs
}

// KeyToPath validates a key of a secret or config map with its path.
func KeyToPath(k *corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "key", k.Key, "path", k.Path), ProjectedPath(k.Path, at.Child("path"))...)
	return append(errs, FileMode(k.Mode, at.Child("mode"))...)
}

func validateNFS(s *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "server", s.Server, "path", s.Path)
	if !path.IsAbs(s.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), s.Path, "must be an absolute path"))
	}
	return errs
}

func validateGlusterfs(s *corev1.GlusterfsVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "endpoints", s.EndpointsName, "path", s.Path)
}

func validateFlocker(s *corev1.FlockerVolumeSource, at *field.Path) (errs field.ErrorList) {
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

func validateClaim(s *corev1.PersistentVolumeClaimVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "claimName", s.ClaimName)
}

func validateRBD(s *corev1.RBDVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "monitors", strings.Join(s.CephMonitors, ","), "image", s.RBDImage)
}

// secretName requires the name in a secret reference, if there is one.
func secretName(ref *corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return check.RequireAll(at, "name", ref.Name)
}

func validateCinder(s *corev1.CinderVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "volumeID", s.VolumeID), secretName(s.SecretRef, at.Child("secretRef"))...)
}

func validateCephFS(s *corev1.CephFSVolumeSource, at *field.Path) field.ErrorList {
	if len(s.Monitors) == 0 {
		return check.RequireAll(at, "monitors", "")
	}
	return nil
}

func validateQuobyte(s *corev1.QuobyteVolumeSource, at *field.Path) (errs field.ErrorList) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	switch {
	case s.Registry == "":
		errs = append(errs, field.Required(at.Child("registry"), pairs))
	case len(s.Tenant) >= 65:
		errs = append(errs, field.Required(at.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for _, pair := range strings.Split(s.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(at.Child("registry"), s.Registry, pairs))
			}
		}
	}
	return append(errs, check.RequireAll(at, "volume", s.Volume)...)
}

func validateFC(s *corev1.FCVolumeSource, at *field.Path) (errs field.ErrorList) {
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

func validateFlex(s *corev1.FlexVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "driver", s.Driver), flexOptions(s.Options, at.Child("options"))...)
}

// flexOptions rejects options with Kubernetes' own prefixes.
func flexOptions(options map[string]string, at *field.Path) (errs field.ErrorList) {
	for _, key := range check.Sorted(options) {
		space, _, _ := strings.Cut(key, "/")
		domain := "." + strings.ToLower(space)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(at.Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func validateAzureFile(s *corev1.AzureFileVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "secretName", s.SecretName, "shareName", s.ShareName)
}

func validateVsphere(s *corev1.VsphereVirtualDiskVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "volumePath", s.VolumePath)
}

func validatePhoton(s *corev1.PhotonPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "pdID", s.PdID)
}

func validatePortworx(s *corev1.PortworxVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "volumeID", s.VolumeID)
}

var (
	azureCachings = []corev1.AzureDataDiskCachingMode{
		corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite,
	}
	azureKinds = []corev1.AzureDataDiskKind{
		corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk,
	}
)

func validateAzureDisk(s *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "diskName", s.DiskName, "diskURI", s.DataDiskURI)
	if s.CachingMode != nil {
		errs = append(errs, check.OneOf(*s.CachingMode, at.Child("cachingMode"), azureCachings)...)
	}
	if s.Kind == nil {
		return errs
	}
	errs = append(errs, check.OneOf(*s.Kind, at.Child("kind"), azureKinds)...)
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if *s.Kind == corev1.AzureManagedDisk {
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if !strings.HasPrefix(s.DataDiskURI, prefix) {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), s.DataDiskURI, []string{form}))
	}
	return errs
}

func validateScaleIO(s *corev1.ScaleIOVolumeSource, at *field.Path) field.ErrorList {
	return check.RequireAll(at, "gateway", s.Gateway, "system", s.System, "volumeName", s.VolumeName)
}

func validateStorageOS(s *corev1.StorageOSVolumeSource, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "volumeName", s.VolumeName)
	errs = append(errs, check.NonEmpty(s.VolumeName, at.Child("volumeName"), check.DNSLabel)...)
	errs = append(errs, check.NonEmpty(s.VolumeNamespace, at.Child("volumeNamespace"), check.DNSLabel)...)
	return append(errs, secretName(s.SecretRef, at.Child("secretRef"))...)
}

// CSIDriver requires the name of a CSI driver, regardless of case.
func CSIDriver(name string, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(name != "", at, "")...)
	if len(name) > 63 {
		errs = append(errs, field.TooLong(at, "", 63))
	}
	for _, text := range utilvalidation.IsDNS1123Subdomain(strings.ToLower(name)) {
		errs = append(errs, field.Invalid(at, name, text))
	}
	return errs
}

func validateCSI(s *corev1.CSIVolumeSource, at *field.Path) field.ErrorList {
	errs := CSIDriver(s.Driver, at.Child("driver"))
	ref := s.NodePublishSecretRef
	switch {
	case ref == nil:
	case ref.Name == "":
		errs = append(errs, check.RequireAll(at.Child("nodePublishSecretRef"), "name", "")...)
	default:
		errs = append(errs, check.DNSSubdomain(ref.Name, at.Child("name"))...)
	}
	return errs
}

var pullPolicies = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}

// PullPolicy validates a pull policy.
func PullPolicy(p corev1.PullPolicy, at *field.Path) field.ErrorList {
	return check.Required(p, at, pullPolicies)
}
