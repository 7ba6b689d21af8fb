package podspec

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

var (
	accessModes = []corev1.PersistentVolumeAccessMode{
		corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod,
	}
	// VolumeModes are the modes of volumes and claims, in the order of error messages.
	VolumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
)

// AccessModes requires known access modes, and rejects ReadWriteOncePod together with others.
func AccessModes(list []corev1.PersistentVolumeAccessMode, at *field.Path) (errs field.ErrorList) {
	once, other := false, false
	for _, mode := range list {
		wrong := check.OneOf(mode, at, accessModes)
		errs = append(errs, wrong...)
		once = once || mode == corev1.ReadWriteOncePod
		other = other || mode != corev1.ReadWriteOncePod && len(wrong) == 0
	}
	if once && other {
		errs = append(errs, field.Forbidden(at, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// claimTolerance says which invalid values an update may keep.
type claimTolerance struct{ selector, dataGroup bool }

func claimToleranceOf(old *corev1.PersistentVolumeClaimSpec) claimTolerance {
	if old == nil {
		return claimTolerance{}
	}
	errs := metav1validation.ValidateLabelSelector(old.Selector, metav1validation.LabelSelectorValidationOptions{}, nil)
	return claimTolerance{
		selector: len(errs) > 0,
		dataGroup: old.DataSource != nil && old.DataSource.APIGroup != nil ||
			old.DataSourceRef != nil && old.DataSourceRef.APIGroup != nil,
	}
}

// ValidateClaimSpec validates the spec of a claim or of a claim template; old is nil on create.
func ValidateClaimSpec(s, old *corev1.PersistentVolumeClaimSpec, at *field.Path) (errs field.ErrorList) {
	tolerate := claimToleranceOf(old)
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(s.Selector,
		metav1validation.LabelSelectorValidationOptions{
			AllowInvalidLabelValueInSelector: tolerate.selector,
		}, at.Child("selector"))...)
	errs = append(errs, AccessModes(s.AccessModes, at.Child("accessModes"))...)
	size := at.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; ok {
		errs = append(errs, check.PositiveQuantity(q, size)...)
	} else {
		errs = append(errs, field.Required(size, ""))
	}
	errs = append(errs, ClassName(s.StorageClassName, at.Child("storageClassName"))...)
	if s.VolumeMode != nil {
		errs = append(errs, check.OneOf(*s.VolumeMode, at.Child("volumeMode"), VolumeModes)...)
	}
	errs = append(errs, claimSource(s, tolerate, at)...)
	return append(errs, ClassName(s.VolumeAttributesClassName, at.Child("volumeAttributesClassName"))...)
}

// ClassName requires a valid class name, unless it is empty.
func ClassName(name *string, at *field.Path) field.ErrorList {
	if name == nil || *name == "" {
		return nil
	}
	return check.Apply(*name, at, check.WholeName(apivalidation.NameIsDNSSubdomain))
}

// claimSource validates the data source of a volume.
func claimSource(s *corev1.PersistentVolumeClaimSpec, tolerate claimTolerance, at *field.Path) (errs field.ErrorList) {
	source, ref := s.DataSource, s.DataSourceRef
	if source != nil {
		errs = append(errs, dataSource(source.APIGroup, source.Kind, source.Name, tolerate, at.Child("dataSource"))...)
	}
	elsewhere := false
	if ref != nil {
		errs = append(errs, dataSource(ref.APIGroup, ref.Kind, ref.Name, tolerate, at.Child("dataSourceRef"))...)
		if elsewhere = ref.Namespace != nil && *ref.Namespace != ""; elsewhere {
			errs = append(errs, check.DNSLabel(*ref.Namespace, at.Child("dataSourceRef", "namespace"))...)
		}
	}
	// Upstream passes the path as the value; it is a struct without JSON fields.
	path := struct{}{}
	switch {
	case source == nil || ref == nil:
	case elsewhere:
		errs = append(errs, field.Invalid(at, path, "may not be specified when dataSourceRef.namespace is specified"))
	case !reflect.DeepEqual(source.APIGroup, ref.APIGroup) || source.Kind != ref.Kind || source.Name != ref.Name:
		errs = append(errs, field.Invalid(at, path, "must match dataSourceRef"))
	}
	return errs
}

func dataSource(group *string, kind, name string, tolerate claimTolerance, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(name != "", at.Child("name"), "")...)
	errs = append(errs, check.Present(kind != "", at.Child("kind"), "")...)
	switch {
	case group == nil || *group == "":
		if kind != "PersistentVolumeClaim" {
			errs = append(errs, field.Invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
		}
	case !tolerate.dataGroup:
		errs = append(errs, check.DNSSubdomain(*group, at.Child("apiGroup"))...)
	}
	return errs
}
