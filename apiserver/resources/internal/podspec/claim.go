package podspec

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// VolumeModes are the modes of volumes and claims, in the order of error messages.
var VolumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}

// AccessModes requires known access modes, and rejects ReadWriteOncePod together with others.
func AccessModes(list []corev1.PersistentVolumeAccessMode, at *field.Path) (errs field.ErrorList) {
	once, other := false, false
	for _, mode := range list {
		wrong := check.OneOf(mode, at, []corev1.PersistentVolumeAccessMode{
			corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod})
		errs = append(errs, wrong...)
		once = once || mode == corev1.ReadWriteOncePod
		other = other || mode != corev1.ReadWriteOncePod && len(wrong) == 0
	}
	return append(errs, check.Forbid(once && other, at, "may not use ReadWriteOncePod with other access modes")...)
}

// ValidateClaimSpec validates the spec of a claim or of a claim template; old is nil on create.
func ValidateClaimSpec(s, old *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	was := check.ValueOf(old)
	errs := check.Present(len(s.AccessModes) > 0, at.Child("accessModes"), "at least 1 access mode is required")
	errs = append(errs, check.LabelSelector(s.Selector, was.Selector, at.Child("selector"))...)
	errs = append(errs, AccessModes(s.AccessModes, at.Child("accessModes"))...)
	size := at.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; ok {
		errs = append(errs, check.PositiveQuantity(q, size)...)
	} else {
		errs = append(errs, field.Required(size, ""))
	}
	errs = append(errs, check.NonEmpty(check.ValueOf(s.StorageClassName), at.Child("storageClassName"),
		check.DNSSubdomain)...)
	errs = append(errs, check.GivenOneOf(s.VolumeMode, at.Child("volumeMode"), VolumeModes)...)
	anyGroup := check.ValueOf(was.DataSource).APIGroup != nil || check.ValueOf(was.DataSourceRef).APIGroup != nil
	errs = append(errs, claimSource(s, anyGroup, at)...)
	return append(errs, check.NonEmpty(check.ValueOf(s.VolumeAttributesClassName), at.Child("volumeAttributesClassName"),
		check.DNSSubdomain)...)
}

// claimSource validates the data source of a volume. With anyGroup it accepts invalid API groups.
func claimSource(s *corev1.PersistentVolumeClaimSpec, anyGroup bool, at *field.Path) (errs field.ErrorList) {
	source, ref := s.DataSource, s.DataSourceRef
	if source != nil {
		errs = append(errs, dataSource(source.APIGroup, source.Kind, source.Name, anyGroup, at.Child("dataSource"))...)
	}
	elsewhere := false
	if ref != nil {
		errs = append(errs, dataSource(ref.APIGroup, ref.Kind, ref.Name, anyGroup, at.Child("dataSourceRef"))...)
		namespace := check.ValueOf(ref.Namespace)
		errs = append(errs, check.NonEmpty(namespace, at.Child("dataSourceRef", "namespace"), check.DNSLabel)...)
		elsewhere = namespace != ""
	}
	// Upstream passes the path as the value. As JSON the path is {}, because its struct has no exported fields.
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

func dataSource(group *string, kind, name string, anyGroup bool, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "name", name, "kind", kind)
	switch {
	case group == nil || *group == "":
		errs = append(errs, check.Reject(kind != "PersistentVolumeClaim", at, kind,
			"must be 'PersistentVolumeClaim' when referencing the default apiGroup")...)
	case !anyGroup:
		errs = append(errs, check.DNSSubdomain(*group, at.Child("apiGroup"))...)
	}
	return errs
}
