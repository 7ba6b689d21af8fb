package validation

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

var (
	accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
	volumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
)

// claimTolerance is what an update accepts because the old claim had it already.
type claimTolerance struct{ selector, dataGroup bool }

func claimToleranceOf(old *corev1.PersistentVolumeClaimSpec) claimTolerance {
	if old == nil {
		return claimTolerance{}
	}
	return claimTolerance{
		selector:  len(invalid.Selector(old.Selector, metav1validation.LabelSelectorValidationOptions{}, nil)) > 0,
		dataGroup: old.DataSource != nil && old.DataSource.APIGroup != nil || old.DataSourceRef != nil && old.DataSourceRef.APIGroup != nil,
	}
}

func claim(c *corev1.PersistentVolumeClaim) field.ErrorList {
	return claimSpec(&c.Spec, nil, field.NewPath("spec"))
}

// claimSpec judges what is asked for, of a claim or of a template for one; old is nil for a new one.
func claimSpec(s, old *corev1.PersistentVolumeClaimSpec, at *field.Path) (errs field.ErrorList) {
	tolerate := claimToleranceOf(old)
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, invalid.Selector(s.Selector,
		metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: tolerate.selector}, at.Child("selector"))...)
	errs = append(errs, modes(s.AccessModes, at.Child("accessModes"))...)
	size := at.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; ok {
		errs = append(errs, positiveQuantity(q, size)...)
	} else {
		errs = append(errs, field.Required(size, ""))
	}
	errs = append(errs, className(s.StorageClassName, at.Child("storageClassName"))...)
	if s.VolumeMode != nil {
		errs = append(errs, oneOf(*s.VolumeMode, at.Child("volumeMode"), volumeModes)...)
	}
	errs = append(errs, claimSource(s, tolerate, at)...)
	return append(errs, className(s.VolumeAttributesClassName, at.Child("volumeAttributesClassName"))...)
}

// modes wants known access modes, and ReadWriteOncePod only by itself.
func modes(list []corev1.PersistentVolumeAccessMode, at *field.Path) (errs field.ErrorList) {
	once, other := false, false
	for _, mode := range invalid.Each(list, &errs) {
		wrong := oneOf(mode, at, accessModes)
		errs = append(errs, wrong...)
		once = once || mode == corev1.ReadWriteOncePod
		other = other || mode != corev1.ReadWriteOncePod && len(wrong) == 0
	}
	if once && other {
		errs = append(errs, field.Forbidden(at, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// className wants a class's name, if there is one.
func className(name *string, at *field.Path) field.ErrorList {
	if name == nil || *name == "" {
		return nil
	}
	return judge(*name, at, whole(apivalidation.NameIsDNSSubdomain))
}

// claimSource judges what a volume is to be filled with.
func claimSource(s *corev1.PersistentVolumeClaimSpec, tolerate claimTolerance, at *field.Path) (errs field.ErrorList) {
	source, ref := s.DataSource, s.DataSourceRef
	if source != nil {
		errs = append(errs, dataSource(source.APIGroup, source.Kind, source.Name, tolerate, at.Child("dataSource"))...)
	}
	elsewhere := false
	if ref != nil {
		errs = append(errs, dataSource(ref.APIGroup, ref.Kind, ref.Name, tolerate, at.Child("dataSourceRef"))...)
		if elsewhere = ref.Namespace != nil && *ref.Namespace != ""; elsewhere {
			errs = append(errs, label(*ref.Namespace, at.Child("dataSourceRef", "namespace"))...)
		}
	}
	// The path stands where the value belongs; it is a struct without JSON fields.
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
	if name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	if kind == "" {
		errs = append(errs, field.Required(at.Child("kind"), ""))
	}
	switch {
	case group == nil || *group == "":
		if kind != "PersistentVolumeClaim" {
			errs = append(errs, field.Invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
		}
	case !tolerate.dataGroup:
		errs = append(errs, subdomain(*group, at.Child("apiGroup"))...)
	}
	return errs
}

// claimUpdate judges the new claim twice, for upstream's strategy and its ValidateXUpdate both do,
// and then what changed.
func claimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	spec := field.NewPath("spec")
	errs := claimSpec(&c.Spec, &old.Spec, spec)
	errs = append(errs, errs...)
	errs = append(errs, claimKept(c, old)...)
	size, was, got := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage], old.Status.Capacity[corev1.ResourceStorage]
	if size.Cmp(was) < 0 && size.Cmp(got) <= 0 {
		errs = append(errs, field.Forbidden(spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	errs = append(errs, immutable(c.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if class := c.Spec.VolumeAttributesClassName; old.Status.CurrentVolumeAttributesClassName != nil && !same(class, old.Spec.VolumeAttributesClassName) {
		at := spec.Child("volumeAttributesClassName")
		if class == nil {
			errs = append(errs, field.Forbidden(at, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"))
		} else if *class == "" {
			errs = append(errs, field.Forbidden(at, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"))
		}
	}
	return errs
}

// claimKept refuses what may not change in a spec: all but the volume's name once, a class that
// was missing, and of bound claims the size and the class of attributes.
func claimKept(c, old *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	beta, class := corev1.BetaStorageClassAnnotation, c.Spec.StorageClassName
	oldBeta, hadBeta := old.Annotations[beta]
	newBeta, hasBeta := c.Annotations[beta]
	switch added := class != nil && old.Spec.StorageClassName == nil; {
	case added && hadBeta && *class == oldBeta && (!hasBeta || newBeta == oldBeta):
		now.StorageClassName = nil
	default:
		if newBeta != oldBeta {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "annotations", beta), newBeta, apivalidation.FieldImmutableErrorMsg))
		}
		if added && (!hadBeta || *class == oldBeta) {
			now.StorageClassName = was.StorageClassName
		}
	}
	if c.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = was.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"),
			fmt.Sprintf("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%v",
				difference(was, now))))
	}
	return errs
}

func claimStatus(c, _ *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	if c.ResourceVersion == "" {
		errs = append(errs, field.Required(field.NewPath("resourceVersion"), ""))
	}
	if len(c.Spec.AccessModes) == 0 {
		errs = append(errs, field.Required(field.NewPath("Spec", "accessModes"), ""))
	}
	status := field.NewPath("status")
	for _, name := range invalid.Each(sorted(c.Status.Capacity), &errs) {
		errs = append(errs, basicQuantity(c.Status.Capacity[name], status.Child("capacity").Key(string(name)))...)
	}
	for _, name := range invalid.Each(sorted(c.Status.AllocatedResourceStatuses), &errs) {
		at := status.Child("allocatedResourceStatus")
		errs = append(errs, claimResource(name, at)...)
		if !resizeStates[c.Status.AllocatedResourceStatuses[name]] {
			errs = append(errs, field.NotSupported(at, name, sorted(resizeStates)))
		}
	}
	for _, name := range invalid.Each(sorted(c.Status.AllocatedResources), &errs) {
		at, q := status.Child("allocatedResources"), c.Status.AllocatedResources[name]
		if wrong := claimResource(name, at); len(wrong) > 0 {
			errs = append(errs, wrong...)
		} else {
			errs = append(errs, basicQuantity(q, at.Key(string(name)))...)
		}
	}
	return errs
}

var resizeStates = set(corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizePending, corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible)

// claimResource wants storage, or a resource of somebody else's.
func claimResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := qualified(string(name), at)
	if len(errs) == 0 && isNativeResource(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(at, string(name), []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return errs
}
