package persistentvolume

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// syncVolume plans a volume's phase, and its release from a claim (K persistentvolume/pv_controller.go: syncVolume).
func syncVolume(view workload.View, v *corev1.PersistentVolume, _ time.Time) workload.Plan {
	ref := v.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		return enter(v, corev1.VolumeAvailable)
	}
	p := workload.Get[*corev1.PersistentVolumeClaim](view, ref.Namespace, ref.Name)
	switch {
	case p == nil || p.UID != ref.UID:
		return release(v)
	case p.Spec.VolumeName == v.Name:
		return enter(v, corev1.VolumeBound)
	case p.Spec.VolumeName != "":
		if v.Annotations[provisionedBy] != "" &&
			v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			return release(v)
		}
		return unbind(v)
	case mode(v.Spec.VolumeMode) != mode(p.Spec.VolumeMode):
		const why = "due to incompatible volumeMode."
		return workload.Plan{
			Events: []workload.Event{workload.Warning("VolumeMismatch",
				fmt.Sprintf("Cannot bind PersistentVolume to requested PersistentVolumeClaim %q %s", p.Name, why))},
			Notes: []workload.Note{{About: p, Event: workload.Warning("VolumeMismatch",
				fmt.Sprintf("Cannot bind PersistentVolume %q to requested PersistentVolumeClaim %s", v.Name, why))}},
		}
	}
	return workload.Plan{} // the claim is being bound
}

// enter plans a status with the phase and without a message, unless the volume has that status.
func enter(v *corev1.PersistentVolume, p corev1.PersistentVolumePhase) (plan workload.Plan) {
	if next := phase(v, p, ""); next != nil {
		plan.Status = next
	}
	return plan
}

// unbind removes the reference to a claim that is bound to another volume. The next pass sets the phase (unbindVolume).
func unbind(v *corev1.PersistentVolume) workload.Plan {
	next := v.DeepCopy()
	if _, ours := v.Annotations[boundByController]; ours {
		next.Spec.ClaimRef = nil
		delete(next.Annotations, boundByController)
	} else {
		next.Spec.ClaimRef.UID = ""
	}
	return workload.Plan{Do: []workload.Action{workload.Update{Object: next}}}
}
