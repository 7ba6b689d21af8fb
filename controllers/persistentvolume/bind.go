package persistentvolume

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// bind plans the next write of a binding. The write causes a pass that plans the following one (bind).
func bind(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) workload.Plan {
	if next := refer(v, p); next != nil {
		return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
	}
	if next := phase(v, corev1.VolumeBound, ""); next != nil {
		return workload.Plan{Do: []workload.Action{workload.Update{Object: next, Status: true}}}
	}
	if next := name(p, v); next != nil {
		return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
	}
	return workload.Plan{Status: claimStatus(p, corev1.ClaimBound, v)}
}

// refer returns the volume with a reference to the claim; nil if it already has one (GetBindVolumeToClaim).
func refer(v *corev1.PersistentVolume, p *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	if ref := v.Spec.ClaimRef; refers(v, p) && ref.UID == p.UID {
		return nil
	}
	next := v.DeepCopy()
	if !refers(v, p) {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, boundByController, yes)
	}
	next.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1",
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion}
	return next
}

// name returns the claim with the name of its volume; nil if it already has it (bindClaimToVolume).
func name(p *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	_, done := p.Annotations[bindCompleted]
	if done && p.Spec.VolumeName == v.Name {
		return nil
	}
	next := p.DeepCopy()
	if p.Spec.VolumeName != v.Name {
		next.Spec.VolumeName = v.Name
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, boundByController, yes)
	}
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, bindCompleted, yes)
	return next
}

// preResize is the annotation of a volume whose file system is still smaller than the volume
// (pkg/volume/util/resizefs.go: AnnPreResizeCapacity).
const preResize = "volume.alpha.kubernetes.io/pre-resize-capacity"

// claimStatus returns the claim with a new status; nil if that is the stored one (updateClaimStatus). The capacity of a
// bound claim is left to resizing.
func claimStatus(
	p *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, v *corev1.PersistentVolume,
) workload.Object {
	next := p.DeepCopy()
	s := &next.Status
	switch entered := s.Phase != phase; {
	case v == nil:
		s.AccessModes, s.Capacity = nil, nil
	default:
		s.AccessModes = slices.Clone(v.Spec.AccessModes)
		if entered {
			s.Capacity = capacity(v)
		}
	}
	s.Phase = phase
	if s.Phase == p.Status.Phase && slices.Equal(s.AccessModes, p.Status.AccessModes) &&
		maps.EqualFunc(s.Capacity, p.Status.Capacity, resource.Quantity.Equal) {
		return nil
	}
	return next
}

func capacity(v *corev1.PersistentVolume) corev1.ResourceList {
	if before, ok := v.Annotations[preResize]; ok {
		if q, err := resource.ParseQuantity(before); err == nil {
			return corev1.ResourceList{corev1.ResourceStorage: q}
		}
	}
	return v.Spec.Capacity.DeepCopy()
}

func size(v *corev1.PersistentVolume) *resource.Quantity {
	return new(v.Spec.Capacity[corev1.ResourceStorage])
}

// phase returns the volume in a phase; nil if it is already in that phase (updateVolumePhase).
func phase(v *corev1.PersistentVolume, p corev1.PersistentVolumePhase, message string) *corev1.PersistentVolume {
	if v.Status.Phase == p {
		return nil
	}
	next := v.DeepCopy()
	next.Status.Phase, next.Status.Message = p, message
	return next
}
