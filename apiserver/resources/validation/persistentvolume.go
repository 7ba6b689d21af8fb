package validation

// Not checked of persistent volumes: mount options in the deprecated annotation.

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

var reclaimPolicies = []corev1.PersistentVolumeReclaimPolicy{corev1.PersistentVolumeReclaimDelete,
	corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain}

func persistentVolume(v *corev1.PersistentVolume) field.ErrorList {
	return volumeSpec(&v.Spec, v.Name, field.NewPath("spec"))
}

// volumeSpec judges a persistent volume's spec (core ValidatePersistentVolumeSpec).
func volumeSpec(s *corev1.PersistentVolumeSpec, name string, at *field.Path) (errs field.ErrorList) {
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), ""))
	}
	errs = append(errs, modes(s.AccessModes, at.Child("accessModes"))...)
	capacity := at.Child("capacity")
	if len(s.Capacity) == 0 {
		errs = append(errs, field.Required(capacity, ""))
	}
	if _, ok := s.Capacity[corev1.ResourceStorage]; !ok || len(s.Capacity) > 1 {
		errs = append(errs, field.NotSupported(capacity, s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, resource := range invalid.Each(sorted(s.Capacity), &errs) {
		errs = append(errs, basicQuantity(s.Capacity[resource], capacity.Key(string(resource)))...)
		errs = append(errs, positiveQuantity(s.Capacity[resource], capacity.Key(string(resource)))...)
	}
	policy := at.Child("persistentVolumeReclaimPolicy")
	if p := s.PersistentVolumeReclaimPolicy; p != "" {
		errs = append(errs, oneOf(p, policy, reclaimPolicies)...)
	}
	if s.NodeAffinity != nil {
		errs = append(errs, volumeAffinity(s.NodeAffinity, at.Child("nodeAffinity"))...)
	}
	errs = append(errs, volumeOfOneType(s, name, at)...)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(policy, "may not be 'recycle' for a hostPath mount of '/'"))
	}
	errs = append(errs, className(&s.StorageClassName, at.Child("storageClassName"))...)
	if s.VolumeMode != nil {
		errs = append(errs, oneOf(*s.VolumeMode, at.Child("volumeMode"), volumeModes)...)
	}
	if class := s.VolumeAttributesClassName; class != nil {
		if *class == "" {
			errs = append(errs, field.Required(at.Child("volumeAttributesClassName"), "an empty string is disallowed"))
		}
		errs = append(errs, className(class, at.Child("volumeAttributesClassName"))...)
		if s.CSI == nil {
			errs = append(errs, field.Required(at.Child("csi"), "has to be specified when using volumeAttributesClassName"))
		}
	}
	return errs
}

// inlineVolumeSpec judges the spec that a volume attachment carries itself.
func inlineVolumeSpec(s *corev1.PersistentVolumeSpec, at *field.Path) (errs field.ErrorList) {
	const inline = "in the context of inline volumes"
	forbid := func(name, why string) { errs = append(errs, field.Forbidden(at.Child(name), why+inline)) }
	if s.ClaimRef != nil {
		forbid("claimRef", "may not be specified ")
	}
	if len(s.Capacity) != 0 {
		forbid("capacity", "may not be specified ")
	}
	if s.CSI == nil {
		errs = append(errs, field.Required(at.Child("csi"), "has to be specified "+inline))
	}
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), ""))
	}
	errs = append(errs, modes(s.AccessModes, at.Child("accessModes"))...)
	if p := s.PersistentVolumeReclaimPolicy; p != "" && p != corev1.PersistentVolumeReclaimRetain {
		forbid("persistentVolumeReclaimPolicy", "may only be Retain ")
	}
	if s.NodeAffinity != nil {
		forbid("nodeAffinity", "may not be specified ")
	}
	errs = append(errs, volumeOfOneType(s, "", at)...)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(at.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	if s.StorageClassName != "" {
		forbid("storageClassName", "may not be specified ")
	}
	if m := s.VolumeMode; m != nil && *m != corev1.PersistentVolumeFilesystem {
		forbid("volumeMode", "may not specify volumeMode other than Filesystem ")
	}
	return errs
}

func volumeAffinity(a *corev1.VolumeNodeAffinity, at *field.Path) field.ErrorList {
	if a.Required == nil {
		return field.ErrorList{field.Required(at.Child("required"), "must specify required node constraints")}
	}
	return nodeSelector(a.Required, false, at.Child("required"))
}

// persistentVolumeUpdate judges the new volume twice, for upstream's strategy and its
// ValidateXUpdate both do, and then what changed.
func persistentVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	errs := persistentVolume(v)
	errs = append(errs, errs...)
	now, was := v.Spec.PersistentVolumeSource.DeepCopy(), &old.Spec.PersistentVolumeSource
	if was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil && now.CSI != nil {
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			fmt.Sprintf("spec.persistentvolumesource is immutable after creation\n%v", difference(was, now))))
	}
	errs = append(errs, immutable(v.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if old.Spec.NodeAffinity != nil && !sameAffinity(v.Spec.NodeAffinity, old.Spec.NodeAffinity) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), internal(v.Spec.NodeAffinity),
			apivalidation.FieldImmutableErrorMsg+", except for updating from beta label to GA"))
	}
	if v.Spec.VolumeAttributesClassName == nil && old.Spec.VolumeAttributesClassName != nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

// gaLabels are what node labels became.
var gaLabels = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/os":             corev1.LabelOSStable,
	"beta.kubernetes.io/arch":           corev1.LabelArchStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
}

// sameAffinity compares with a label's beta name replaced by what the new affinity says instead.
func sameAffinity(now, was *corev1.VolumeNodeAffinity) bool {
	was = was.DeepCopy()
	if now != nil && now.Required != nil && was.Required != nil {
		for i := range min(len(now.Required.NodeSelectorTerms), len(was.Required.NodeSelectorTerms)) {
			a, b := now.Required.NodeSelectorTerms[i], was.Required.NodeSelectorTerms[i]
			renamed(a.MatchExpressions, b.MatchExpressions)
			renamed(a.MatchFields, b.MatchFields)
		}
	}
	return apiequality.Semantic.DeepEqual(now, was)
}

func renamed(now, was []corev1.NodeSelectorRequirement) {
	for i := range min(len(now), len(was)) {
		if ga, ok := gaLabels[was[i].Key]; ok && now[i].Key == ga {
			was[i].Key = ga
		}
	}
}

func persistentVolumeStatus(v, _ *corev1.PersistentVolume) field.ErrorList {
	if v.ResourceVersion == "" {
		return field.ErrorList{field.Required(field.NewPath("resourceVersion"), "")}
	}
	return nil
}
