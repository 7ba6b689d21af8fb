package podspec

import (
	"net"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// needs returns a rule that requires fields, by their names in JSON, in the order of the struct.
func needs[T any](names ...string) func(*T, *field.Path) field.ErrorList {
	return func(part *T, at *field.Path) (errs field.ErrorList) {
		v := reflect.ValueOf(part).Elem()
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			missing := v.Field(i).IsZero() || v.Field(i).Kind() == reflect.Slice && v.Field(i).Len() == 0
			errs = append(errs, check.Present(!missing || !slices.Contains(names, name), at.Child(name), "")...)
		}
		return errs
	}
}

func validateEmptyDir(s *corev1.EmptyDirVolumeSource, at *field.Path) field.ErrorList {
	return check.Forbid(s.SizeLimit != nil && s.SizeLimit.Sign() < 0, at.Child("sizeLimit"),
		"SizeLimit field must be a valid resource quantity")
}

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
	corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket,
}

func validateHostPath(s *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if s.Path == "" {
		return check.RequireAll(at, "path", "")
	}
	return append(NoBacksteps(s.Path, at.Child("path")),
		check.GivenOneOf(s.Type, at.Child("type"), hostPathTypes)...)
}

func validateGitRepo(s *corev1.GitRepoVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "repository", s.Repository), Descending(s.Directory, at.Child("directory"))...)
}

// diskPartition accepts 0, which means no partition, although the message does not mention 0.
func diskPartition(n int32, at *field.Path) field.ErrorList {
	return check.Reject(n < 0 || n > 255, at, n, utilvalidation.InclusiveRangeError(1, 255))
}

func validateGCE(s *corev1.GCEPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "pdName", s.PDName), diskPartition(s.Partition, at.Child("partition"))...)
}

func validateAWS(s *corev1.AWSElasticBlockStoreVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "volumeID", s.VolumeID), diskPartition(s.Partition, at.Child("partition"))...)
}

func validateSecret(s *corev1.SecretVolumeSource, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "secretName", s.SecretName), FileMode(s.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, check.Each(s.Items, at.Child("items"), KeyToPath)...)
}

func validateConfigMap(s *corev1.ConfigMapVolumeSource, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "name", s.Name), FileMode(s.DefaultMode, at.Child("defaultMode"))...)
	return append(errs, check.Each(s.Items, at.Child("items"), KeyToPath)...)
}

// KeyToPath validates an entry that maps a key of a secret or config map to a path.
func KeyToPath(k *corev1.KeyToPath, at *field.Path) field.ErrorList {
	errs := append(check.RequireAll(at, "key", k.Key, "path", k.Path), ProjectedPath(k.Path, at.Child("path"))...)
	return append(errs, FileMode(k.Mode, at.Child("mode"))...)
}

func validateNFS(s *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "server", s.Server, "path", s.Path),
		check.Reject(!path.IsAbs(s.Path), at.Child("path"), s.Path, "must be an absolute path")...)
}

func validateFlocker(s *corev1.FlockerVolumeSource, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(s.DatasetName != "" || s.DatasetUUID != "", at,
		"one of datasetName and datasetUUID is required")...)
	errs = append(errs, check.Reject(s.DatasetName != "" && s.DatasetUUID != "", at, "resource",
		"datasetName and datasetUUID can not be specified simultaneously")...)
	return append(errs, check.Reject(strings.Contains(s.DatasetName, "/"), at.Child("datasetName"), s.DatasetName,
		"must not contain '/'")...)
}

func validateCinder(s *corev1.CinderVolumeSource, at *field.Path) field.ErrorList {
	return append(check.RequireAll(at, "volumeID", s.VolumeID),
		check.Optional(s.SecretRef, at.Child("secretRef"), needs[corev1.LocalObjectReference]("name"))...)
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
	errs = append(errs, check.Present(len(s.TargetWWNs)+len(s.WWIDs) > 0, names,
		"must specify either targetWWNs or wwids, but not both")...)
	errs = append(errs, check.Reject(len(s.TargetWWNs) != 0 && len(s.WWIDs) != 0, names, s.TargetWWNs,
		"targetWWNs and wwids can not be specified simultaneously")...)
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

// flexOptions rejects options with prefixes that Kubernetes reserves.
func flexOptions(options map[string]string, at *field.Path) (errs field.ErrorList) {
	for _, key := range check.Sorted(options) {
		space, _, _ := strings.Cut(key, "/")
		domain := "." + strings.ToLower(space)
		errs = append(errs, check.Reject(strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io"),
			at.Key(key), key, "kubernetes.io and k8s.io namespaces are reserved")...)
	}
	return errs
}

func validateAzureDisk(s *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "diskName", s.DiskName, "diskURI", s.DataDiskURI)
	errs = append(errs, check.Given(s.CachingMode, at.Child("cachingMode"), check.Among(
		corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite))...)
	if s.Kind == nil {
		return errs
	}
	errs = append(errs, check.OneOf(*s.Kind, at.Child("kind"), []corev1.AzureDataDiskKind{
		corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk})...)
	prefix, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if *s.Kind == corev1.AzureManagedDisk {
		prefix, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if !strings.HasPrefix(s.DataDiskURI, prefix) {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), s.DataDiskURI, []string{form}))
	}
	return errs
}

func validateStorageOS(s *corev1.StorageOSVolumeSource, at *field.Path) field.ErrorList {
	errs := check.Needed(s.VolumeName, at.Child("volumeName"), check.DNSLabel)
	errs = append(errs, check.NonEmpty(s.VolumeNamespace, at.Child("volumeNamespace"), check.DNSLabel)...)
	return append(errs,
		check.Optional(s.SecretRef, at.Child("secretRef"), needs[corev1.LocalObjectReference]("name"))...)
}

// CSIDriver requires the name of a CSI driver, in lower or upper case.
func CSIDriver(name string, at *field.Path) field.ErrorList {
	errs := check.Present(name != "", at, "")
	errs = append(errs, check.MaxBytes(len(name), 63, at)...)
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

// PullPolicy validates a pull policy.
func PullPolicy(p corev1.PullPolicy, at *field.Path) field.ErrorList {
	return check.Required(p, at, []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever})
}

// iscsiForms are the formats of a qualified name, by its first three letters.
var iscsiForms = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
	"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
}

const wrongForm = "must be valid format"

func validateISCSI(s *corev1.ISCSIVolumeSource, at *field.Path) field.ErrorList {
	secret := check.Present(s.SecretRef != nil || !s.DiscoveryCHAPAuth && !s.SessionCHAPAuth, at.Child("secretRef"), "")
	return append(check.RequireAll(at, "targetPortal", s.TargetPortal),
		iscsiTarget(s.IQN, s.Lun, s.InitiatorName, wrongForm+" starting with iqn, eui, or naa", secret, at)...)
}

// iscsiTarget validates the fields that volumes of pods and persistent volumes have in common. unknown is the message
// for a name in no known format. secret are the errors of the secret.
func iscsiTarget(
	iqn string, lun int32, initiator *string, unknown string, secret field.ErrorList, at *field.Path,
) field.ErrorList {
	qualified := func(name string, at *field.Path) field.ErrorList {
		form := iscsiForms[name[:min(3, len(name))]]
		if form == nil {
			return field.ErrorList{field.Invalid(at, name, unknown)}
		}
		return check.Reject(!form.MatchString(name), at, name, wrongForm)
	}
	errs := check.Needed(iqn, at.Child("iqn"), qualified)
	errs = append(errs, check.Reject(lun < 0 || lun > 255, at.Child("lun"), lun,
		utilvalidation.InclusiveRangeError(0, 255))...)
	errs = append(errs, secret...)
	return append(errs, check.Given(initiator, at.Child("initiatorname"), qualified)...)
}

// iscsiName limits the length of the name of the generated interface.
func iscsiName(initiator *string, volume, portal, shown string, at *field.Path) field.ErrorList {
	return check.Reject(initiator != nil && len(volume+":"+portal) > 64, at, shown,
		"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
}
