package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

// Not validated: mount options in the deprecated annotation.

func persistentVolumes(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "persistentvolumes", New: entry.New[corev1.PersistentVolume],
		ShortNames: []string{"pv"},
		Strategy: entry.Strategy{
			Metadata: entry.Metadata{Again: 2},
			Default:  entry.Default(defaultPersistentVolume),
			Prepare:  entry.Prepare(createVolume, nil),
			Validate: entry.ValidateEither(validatePersistentVolume, validatePersistentVolumeUpdate),
			Warnings: entry.Warn(volumeWarnings),
		},
		Delete: entry.Deletion{Returned: true},
		Subresources: entry.StatusOf(
			func(obj, old *corev1.PersistentVolume) { keepVolumePhaseTime(clock, obj, old) }, validatePersistentVolumeStatus),
		Table: volumeTable(),
	}
}

// keepVolumePhaseTime sets the time of the last change of the phase, unless the client sets it.
func keepVolumePhaseTime(now entry.Clock, v, old *corev1.PersistentVolume) {
	s := &v.Status
	switch {
	case s.Phase == old.Status.Phase:
		if s.LastPhaseTransitionTime == nil {
			s.LastPhaseTransitionTime = old.Status.LastPhaseTransitionTime
		}
	case s.LastPhaseTransitionTime == nil || s.LastPhaseTransitionTime.Equal(old.Status.LastPhaseTransitionTime):
		at := now()
		s.LastPhaseTransitionTime = &at
	}
}

// defaultPersistentVolume sets the defaults of a volume's spec, and its initial phase.
func defaultPersistentVolume(v *corev1.PersistentVolume) {
	check.FillDefault(&v.Status.Phase, corev1.VolumePending)
	check.FillDefault(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	check.SetDefault(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	podspec.DefaultVolumeSpec(&v.Spec)
}

// createVolume sets the phase Pending, and the time of creation as the time of the last phase transition.
func createVolume(v *corev1.PersistentVolume) {
	since := v.CreationTimestamp
	v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &since}
}

func classWarnings(annotations map[string]string) []string {
	if _, ok := annotations[corev1.BetaStorageClassAnnotation]; !ok {
		return nil
	}
	return []string{annotationsPath.Key(corev1.BetaStorageClassAnnotation).String() +
		`: deprecated since v1.8; use "storageClassName" attribute instead`}
}

// mountOptions is the key of the annotation for mount options, which the field mountOptions has replaced.
const mountOptions = "volume.beta.kubernetes.io/mount-options"

func volumeWarnings(v, _ *corev1.PersistentVolume) []string {
	texts := classWarnings(v.Annotations)
	if _, ok := v.Annotations[mountOptions]; ok {
		texts = append(texts, annotationsPath.Key(mountOptions).String()+
			`: deprecated since v1.31; use "mountOptions" attribute instead`)
	}
	if v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		texts = append(texts, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "+
			"Instead, the recommended approach is to use dynamic provisioning.")
	}
	terms := check.SpecPath.Child("nodeAffinity", "required", "nodeSelectorTerms")
	for i, t := range check.ValueOf(check.ValueOf(v.Spec.NodeAffinity).Required).NodeSelectorTerms {
		texts = append(texts, check.TermWarnings(terms.Index(i), &t, false)...)
	}
	for _, p := range []struct {
		used      bool
		name, why string
	}{
		{v.Spec.CephFS != nil, "cephfs", "v1.28, non-functional in v1.31+"},
		{v.Spec.PhotonPersistentDisk != nil, "photonPersistentDisk", "v1.11, non-functional in v1.16+"},
		{v.Spec.ScaleIO != nil, "scaleIO", "v1.16, non-functional in v1.22+"},
		{v.Spec.StorageOS != nil, "storageOS", "v1.22, non-functional in v1.25+"},
		{v.Spec.Glusterfs != nil, "glusterfs", "v1.25, non-functional in v1.26+"},
		{v.Spec.RBD != nil, "rbd", "v1.28, non-functional in v1.31+"},
	} {
		if p.used {
			texts = append(texts, fmt.Sprintf("spec.%s: deprecated in %s", p.name, p.why))
		}
	}
	return texts
}

// validatePersistentVolume validates the spec (core ValidatePersistentVolumeSpec).
func validatePersistentVolume(v *corev1.PersistentVolume) (errs field.ErrorList) {
	s, at := &v.Spec, check.SpecPath
	errs = append(errs, check.Present(len(s.AccessModes) > 0, at.Child("accessModes"), "")...)
	errs = append(errs, podspec.AccessModes(s.AccessModes, at.Child("accessModes"))...)
	capacity := at.Child("capacity")
	errs = append(errs, check.Present(len(s.Capacity) > 0, capacity, "")...)
	if _, ok := s.Capacity[corev1.ResourceStorage]; !ok || len(s.Capacity) > 1 {
		errs = append(errs, field.NotSupported(capacity, s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, resource := range check.Sorted(s.Capacity) {
		errs = append(errs, basicQuantity(s.Capacity[resource], capacity.Key(string(resource)))...)
		errs = append(errs, check.PositiveQuantity(s.Capacity[resource], capacity.Key(string(resource)))...)
	}
	policy := at.Child("persistentVolumeReclaimPolicy")
	errs = append(errs, check.NonEmpty(s.PersistentVolumeReclaimPolicy, policy, check.Among(
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle,
		corev1.PersistentVolumeReclaimRetain))...)
	errs = append(errs, check.Optional(s.NodeAffinity, at.Child("nodeAffinity"), volumeAffinity)...)
	errs = append(errs, podspec.OneSource(s, v.Name, at)...)
	errs = append(errs, check.NonEmpty(s.StorageClassName, at.Child("storageClassName"), check.DNSSubdomain)...)
	errs = append(errs, check.GivenOneOf(s.VolumeMode, at.Child("volumeMode"), podspec.VolumeModes)...)
	if class := s.VolumeAttributesClassName; class != nil {
		errs = append(errs, check.Present(*class != "", at.Child("volumeAttributesClassName"),
			"an empty string is disallowed")...)
		errs = append(errs, check.NonEmpty(*class, at.Child("volumeAttributesClassName"), check.DNSSubdomain)...)
		errs = append(errs, check.Present(s.CSI != nil, at.Child("csi"),
			"has to be specified when using volumeAttributesClassName")...)
	}
	return errs
}

func volumeAffinity(a *corev1.VolumeNodeAffinity, at *field.Path) field.ErrorList {
	if a.Required == nil {
		return field.ErrorList{field.Required(at.Child("required"), "must specify required node constraints")}
	}
	return podspec.ValidateNodeSelector(a.Required, false, at.Child("required"))
}

// validatePersistentVolumeUpdate validates the new volume and then the change. Errors of the new volume occur twice,
// because upstream's strategy and its ValidatePersistentVolumeUpdate both validate it.
func validatePersistentVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	errs := check.Twice(validatePersistentVolume(v))
	now, was := v.Spec.PersistentVolumeSource.DeepCopy(), &old.Spec.PersistentVolumeSource
	if was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil && now.CSI != nil {
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			fmt.Sprintf("spec.persistentvolumesource is immutable after creation\n%v", check.Difference(was, now))))
	}
	errs = append(errs, check.Immutable(v.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	changed := old.Spec.NodeAffinity != nil && !sameAffinity(v.Spec.NodeAffinity, old.Spec.NodeAffinity)
	errs = append(errs, check.Reject(changed, field.NewPath("nodeAffinity"), v.Spec.NodeAffinity,
		apivalidation.FieldImmutableErrorMsg+", except for updating from beta label to GA")...)
	return append(errs, check.Forbid(v.Spec.VolumeAttributesClassName == nil && old.Spec.VolumeAttributesClassName != nil,
		field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden")...)
}

// gaLabels maps beta labels of nodes to the labels that replaced them.
var gaLabels = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/os":             corev1.LabelOSStable,
	"beta.kubernetes.io/arch":           corev1.LabelArchStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
}

// sameAffinity reports whether two affinities are equal. A beta label in the old one may be replaced by its GA label in
// the new one.
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

func validatePersistentVolumeStatus(v, _ *corev1.PersistentVolume) field.ErrorList {
	return check.Present(v.ResourceVersion != "", field.NewPath("resourceVersion"), "")
}

// basicQuantity requires zero or more. Its message differs from that of other quantities, as in upstream.
func basicQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	return check.Reject(q.Value() < 0, at, q.Value(), "must be a valid resource quantity")
}

func volumeTable() entry.Table {
	spec, status := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("Capacity", spec["capacity"]),
		entry.Text("Access Modes", spec["accessModes"]),
		entry.Text("Reclaim Policy", spec["persistentVolumeReclaimPolicy"]),
		entry.Text("Status", status["phase"]),
		entry.Text("Claim", spec["claimRef"]),
		entry.Text("StorageClass", "StorageClass of the pv"),
		entry.Text("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
		entry.Text("Reason", status["reason"]),
		entry.Wide(entry.Text("VolumeMode", spec["volumeMode"])),
	}, func(v *corev1.PersistentVolume) []any {
		capacity := v.Spec.Capacity[corev1.ResourceStorage]
		claim := ""
		if ref := v.Spec.ClaimRef; ref != nil {
			claim = ref.Namespace + "/" + ref.Name
		}
		phase := string(v.Status.Phase)
		if v.DeletionTimestamp != nil {
			phase = "Terminating"
		}
		return []any{
			capacity.String(),
			accessModes(v.Spec.AccessModes),
			string(v.Spec.PersistentVolumeReclaimPolicy),
			phase,
			claim,
			storageClass(v.Annotations, v.Spec.StorageClassName),
			entry.ValueOr(v.Spec.VolumeAttributesClassName, entry.Unset),
			v.Status.Reason,
			string(entry.ValueOr(v.Spec.VolumeMode, entry.Unset)),
		}
	})
}

// storageClass returns the class of a volume or a claim. The beta annotation precedes the field, even if it is empty.
func storageClass(annotations map[string]string, field string) string {
	if class, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return field
}

// accessModes abbreviates access modes, in a fixed order.
func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, m := range []struct {
		mode corev1.PersistentVolumeAccessMode
		name string
	}{
		{corev1.ReadWriteOnce, "RWO"},
		{corev1.ReadOnlyMany, "ROX"},
		{corev1.ReadWriteMany, "RWX"},
		{corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(modes, m.mode) {
			short = append(short, m.name)
		}
	}
	return strings.Join(short, ",")
}
