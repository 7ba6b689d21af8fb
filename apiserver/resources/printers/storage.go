package printers

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// The annotations that make a StorageClass the default one.
const (
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

func csiDriverColumns() []Column {
	spec := storagev1.CSIDriverSpec{}.SwaggerDoc()
	return []Column{
		nameColumn,
		boolean("AttachRequired", spec["attachRequired"]),
		boolean("PodInfoOnMount", spec["podInfoOnMount"]),
		boolean("StorageCapacity", spec["storageCapacity"]),
		text("TokenRequests", spec["tokenRequests"]),
		boolean("RequiresRepublish", spec["requiresRepublish"]),
		text("Modes", spec["volumeLifecycleModes"]),
		ageColumn,
	}
}

func csiDriverCells(d *storagev1.CSIDriver, now time.Time) []any {
	tokens := unset
	if d.Spec.TokenRequests != nil {
		var audiences []string
		for _, r := range d.Spec.TokenRequests {
			audiences = append(audiences, r.Audience)
		}
		tokens = strings.Join(audiences, ",")
	}
	var modes []string
	for _, m := range d.Spec.VolumeLifecycleModes {
		modes = append(modes, string(m))
	}
	return []any{
		d.Name,
		value(d.Spec.AttachRequired, true),
		value(d.Spec.PodInfoOnMount, false),
		value(d.Spec.StorageCapacity, false),
		tokens,
		value(d.Spec.RequiresRepublish, false),
		or(strings.Join(modes, ","), none),
		age(&d.ObjectMeta, now),
	}
}

func csiNodeColumns() []Column {
	return []Column{
		nameColumn,
		integer("Drivers", "Drivers indicates the number of CSI drivers registered on the node"),
		ageColumn,
	}
}

func csiNodeCells(n *storagev1.CSINode, now time.Time) []any {
	return []any{n.Name, int64(len(n.Spec.Drivers)), age(&n.ObjectMeta, now)}
}

func storageClassColumns() []Column {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("Provisioner", doc["provisioner"]),
		text("ReclaimPolicy", doc["reclaimPolicy"]),
		text("VolumeBindingMode", doc["volumeBindingMode"]),
		text("AllowVolumeExpansion", doc["allowVolumeExpansion"]),
		ageColumn,
	}
}

func storageClassCells(c *storagev1.StorageClass, now time.Time) []any {
	name := c.Name
	if c.Annotations[defaultClass] == "true" || c.Annotations[betaDefaultClass] == "true" {
		name += " (default)"
	}
	return []any{
		name,
		c.Provisioner,
		string(value(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
		string(value(c.VolumeBindingMode, storagev1.VolumeBindingImmediate)),
		value(c.AllowVolumeExpansion, false), // a boolean, although its column says string
		age(&c.ObjectMeta, now),
	}
}

func attachmentColumns() []Column {
	spec := storagev1.VolumeAttachmentSpec{}.SwaggerDoc()
	attacher := text("Attacher", spec["attacher"])
	attacher.Format = "name"
	return []Column{
		nameColumn,
		attacher,
		text("PV", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"]),
		text("Node", spec["nodeName"]),
		boolean("Attached", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"]),
		ageColumn,
	}
}

func attachmentCells(a *storagev1.VolumeAttachment, now time.Time) []any {
	return []any{
		a.Name,
		a.Spec.Attacher,
		value(a.Spec.Source.PersistentVolumeName, ""),
		a.Spec.NodeName,
		a.Status.Attached,
		age(&a.ObjectMeta, now),
	}
}

func attributesClassColumns() []Column {
	return []Column{nameColumn, text("DriverName", storagev1.VolumeAttributesClass{}.SwaggerDoc()["driverName"]), ageColumn}
}

func attributesClassCells(c *storagev1.VolumeAttributesClass, now time.Time) []any {
	return []any{c.Name, c.DriverName, age(&c.ObjectMeta, now)}
}
