package persistentvolume

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// release sets a volume to released, and then applies its policy. A failure stays (syncVolume, reclaimVolume).
func release(v *corev1.PersistentVolume) workload.Plan {
	if v.Status.Phase != corev1.VolumeReleased && v.Status.Phase != corev1.VolumeFailed {
		return enter(v, corev1.VolumeReleased)
	}
	if v.Annotations[migratedTo] != "" {
		return workload.Plan{}
	}
	switch v.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRecycle:
		return fail(v, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
	case corev1.PersistentVolumeReclaimDelete:
		switch external, err := deletable(v); {
		case external:
		case err != nil:
			return fail(v, "VolumeFailedDelete", err.Error())
		case v.DeletionTimestamp == nil:
			return workload.Plan{Do: []workload.Action{workload.Delete{Object: v}}}
		}
	}
	return workload.Plan{}
}

// fail sets a volume to failed (updateVolumePhaseWithEvent).
func fail(v *corev1.PersistentVolume, reason, message string) (plan workload.Plan) {
	if next := phase(v, corev1.VolumeFailed, message); next != nil {
		plan.Status, plan.Events = next, []workload.Event{workload.Warning(reason, message)}
	}
	return plan
}

// deletable reports whether an external provisioner deletes a volume; if not, err is the reason why no plugin can
// delete it (findDeletablePlugin, doDeleteVolume).
func deletable(v *corev1.PersistentVolume) (external bool, err error) {
	s := &v.Spec
	switch by := v.Annotations[provisionedBy]; {
	case by == hostPath:
	case by == nfs, by == local, by == csi:
		return false, errors.New("no deletable volume plugin matched")
	case strings.HasPrefix(by, "kubernetes.io/"):
		return false, errors.New("no volume plugin matched name: " + by)
	case by != "", s.CSI != nil:
		return true, nil
	case s.HostPath != nil:
	case s.NFS != nil, s.Local != nil:
		return false, fmt.Errorf("error getting deleter volume plugin for volume %q: no deletable volume plugin matched",
			v.Name)
	default:
		return false, fmt.Errorf("error getting deleter volume plugin for volume %q: no volume plugin matched", v.Name)
	}
	path := ""
	if s.HostPath != nil {
		path = s.HostPath.Path
	}
	if _, name, temporary := strings.Cut(path, "/tmp/"); !temporary || name == "" { // pkg/volume/hostpath: Delete
		return false, fmt.Errorf("host_path deleter only supports /tmp/.+ but received provided %s", path)
	}
	return false, nil
}
