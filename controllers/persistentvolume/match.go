package persistentvolume

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// match returns the best volume for a claim, nil if none fits (index.go: findByClaim;
// k8s.io/component-helpers/storage/volume/pv_helpers.go: FindMatchingVolume). Volumes with fewer access modes come
// first. Only volumes that are reserved for it match a delayed claim.
func match(r workload.Reader, p *corev1.PersistentVolumeClaim, delayed bool) *corev1.PersistentVolume {
	return best(candidates(r, p, delayed), p)
}

// candidates returns the volumes that the claim may get.
func candidates(r workload.Reader, p *corev1.PersistentVolumeClaim, delayed bool) []*corev1.PersistentVolume {
	return slices.DeleteFunc(workload.All[*corev1.PersistentVolume](r, ""),
		func(v *corev1.PersistentVolume) bool { return !fits(v, p, delayed) })
}

// best returns the best volume of some that fit, nil if there is none.
func best(fit []*corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	if len(fit) == 0 {
		return nil
	}
	return slices.MinFunc(fit, func(a, b *corev1.PersistentVolume) int {
		x, y := modes(a), modes(b)
		return cmp.Or(cmp.Compare(len(x), len(y)), slices.Compare(x, y),
			workload.FalseFirst(!refers(a, p), !refers(b, p)), size(a).Cmp(*size(b)), strings.Compare(a.Name, b.Name))
	})
}

// modes returns the access modes of a volume, in order, each once.
func modes(v *corev1.PersistentVolume) []corev1.PersistentVolumeAccessMode {
	return slices.Compact(slices.Sorted(slices.Values(v.Spec.AccessModes)))
}

// fits reports whether the claim may get the volume.
func fits(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim, delayed bool) bool {
	requested := p.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case v.Spec.ClaimRef != nil && !refers(v, p),
		!hasModes(v, p),
		size(v).Cmp(requested) < 0,
		mode(v.Spec.VolumeMode) != mode(p.Spec.VolumeMode),
		text(v.Spec.VolumeAttributesClassName) != text(p.Spec.VolumeAttributesClassName),
		v.DeletionTimestamp != nil:
		return false
	case refers(v, p):
		return true
	case delayed, v.Status.Phase != corev1.VolumeAvailable, classOfVolume(v) != classOf(p):
		return false
	case p.Spec.Selector == nil:
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(p.Spec.Selector)
	return err == nil && s.Matches(labels.Set(v.Labels))
}

// satisfies returns the reason why the claim can't be bound to the volume that it names (checkVolumeSatisfyClaim).
func satisfies(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) error {
	requested := p.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case v.DeletionTimestamp != nil:
		return fmt.Errorf("the volume is marked for deletion %q", v.Name)
	case size(v).Value() < requested.Value():
		return errors.New("requested PV is too small")
	case classOfVolume(v) != classOf(p):
		return errors.New("storageClassName does not match")
	case text(v.Spec.VolumeAttributesClassName) != text(p.Spec.VolumeAttributesClassName):
		return errors.New("volumeAttributesClassName does not match")
	case mode(v.Spec.VolumeMode) != mode(p.Spec.VolumeMode):
		return errors.New("incompatible volumeMode")
	case !hasModes(v, p):
		return errors.New("incompatible accessMode")
	}
	return nil
}

// refers reports whether the volume is bound to the claim or reserved for it (IsVolumeBoundToClaim).
func refers(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) bool {
	ref := v.Spec.ClaimRef
	return ref != nil && ref.Name == p.Name && ref.Namespace == p.Namespace && (ref.UID == "" || ref.UID == p.UID)
}

// hasModes reports whether the volume has all access modes of the claim (CheckAccessModes).
func hasModes(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(p.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return !slices.Contains(v.Spec.AccessModes, m)
	})
}

func mode(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	return ptr.Deref(m, corev1.PersistentVolumeFilesystem)
}

func text(s *string) string { return ptr.Deref(s, "") }

// classOf returns the class of a claim, empty for none (GetPersistentVolumeClaimClass).
func classOf(p *corev1.PersistentVolumeClaim) string {
	if name, ok := p.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return text(p.Spec.StorageClassName)
}

// hasClass reports whether the claim names a class, or explicitly none (PersistentVolumeClaimHasClass).
func hasClass(p *corev1.PersistentVolumeClaim) bool {
	_, ok := p.Annotations[corev1.BetaStorageClassAnnotation]
	return ok || p.Spec.StorageClassName != nil
}

// classOfVolume returns the class of a volume (GetPersistentVolumeClass).
func classOfVolume(v *corev1.PersistentVolume) string {
	if name, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return v.Spec.StorageClassName
}

// delayed reports whether the class of the claim binds volumes only when a pod uses the claim (IsDelayBindingMode).
func delayed(r workload.Reader, p *corev1.PersistentVolumeClaim) bool {
	name := classOf(p)
	if name == "" {
		return false
	}
	class := workload.Get[*storagev1.StorageClass](r, "", name)
	return class != nil && class.VolumeBindingMode != nil &&
		*class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// isDefault reports whether the class is a default (pkg/volume/util/storageclass.go: IsDefaultAnnotation).
func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

// defaultClass returns the newest default class, or the first by name if several are equally new; nil if there is none
// (pkg/volume/util/storageclass.go: GetDefaultClass).
func defaultClass(r workload.Reader) (out *storagev1.StorageClass) {
	for _, c := range workload.All[*storagev1.StorageClass](r, "") {
		if isDefault(c) && (out == nil || out.CreationTimestamp.Before(&c.CreationTimestamp)) {
			out = c
		}
	}
	return out
}
