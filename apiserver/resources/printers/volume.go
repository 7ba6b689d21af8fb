package printers

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func volumeColumns() []Column {
	spec, status := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Capacity", spec["capacity"]),
		text("Access Modes", spec["accessModes"]),
		text("Reclaim Policy", spec["persistentVolumeReclaimPolicy"]),
		text("Status", status["phase"]),
		text("Claim", spec["claimRef"]),
		text("StorageClass", "StorageClass of the pv"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
		text("Reason", status["reason"]),
		ageColumn,
		wide(text("VolumeMode", spec["volumeMode"])),
	}
}

func volumeCells(v *corev1.PersistentVolume, now time.Time) []any {
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
		v.Name,
		capacity.String(),
		accessModes(v.Spec.AccessModes),
		string(v.Spec.PersistentVolumeReclaimPolicy),
		phase,
		claim,
		storageClass(v.Annotations, v.Spec.StorageClassName),
		value(v.Spec.VolumeAttributesClassName, unset),
		v.Status.Reason,
		age(&v.ObjectMeta, now),
		string(value(v.Spec.VolumeMode, unset)),
	}
}

func claimColumns() []Column {
	spec, status := corev1.PersistentVolumeClaimSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Status", status["phase"]),
		text("Volume", spec["volumeName"]),
		text("Capacity", status["capacity"]),
		text("Access Modes", status["accessModes"]),
		text("StorageClass", "StorageClass of the pvc"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
		ageColumn,
		wide(text("VolumeMode", spec["volumeMode"])),
	}
}

func claimCells(c *corev1.PersistentVolumeClaim, now time.Time) []any {
	phase := string(c.Status.Phase)
	if c.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	// What a claim asks for isn't shown, only what its volume gave it.
	capacity, modes := "", ""
	if c.Spec.VolumeName != "" {
		given := c.Status.Capacity[corev1.ResourceStorage]
		capacity, modes = given.String(), accessModes(c.Status.AccessModes)
	}
	return []any{
		c.Name,
		phase,
		c.Spec.VolumeName,
		capacity,
		modes,
		storageClass(c.Annotations, value(c.Spec.StorageClassName, "")),
		value(c.Spec.VolumeAttributesClassName, unset),
		age(&c.ObjectMeta, now),
		string(value(c.Spec.VolumeMode, unset)),
	}
}

// storageClass returns the class of a volume or a claim: the beta annotation goes before the
// field, even where it is empty.
func storageClass(annotations map[string]string, field string) string {
	if class, ok := annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return field
}

// accessModes abbreviates, in a fixed order.
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
