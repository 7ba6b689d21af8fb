package storage

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func volumeAttachments() *entry.Resource {
	return &entry.Resource{
		Plural: "volumeattachments", New: entry.New[storagev1.VolumeAttachment],
		Strategy: entry.Strategy{
			Conditional: true,
			Default:     entry.Default(defaultVolumeAttachment),
			Validate:    entry.ValidateEither(validateVolumeAttachment, validateVolumeAttachmentUpdate),
		},
		Delete:       entry.Deletion{Returned: true},
		Subresources: entry.StatusOf(entry.KeepMeta[*storagev1.VolumeAttachment], validateVolumeAttachmentUpdate),
		Table:        attachmentTable(),
	}
}

func defaultVolumeAttachment(a *storagev1.VolumeAttachment) {
	if s := a.Spec.Source.InlineVolumeSpec; s != nil {
		podspec.DefaultVolumeSpec(s)
	}
}

func inlineVolumeSpec(s *corev1.PersistentVolumeSpec, at *field.Path) (errs field.ErrorList) {
	const inline = "in the context of inline volumes"
	forbid := func(name, why string) { errs = append(errs, field.Forbidden(at.Child(name), why+inline)) }
	if s.ClaimRef != nil {
		forbid("claimRef", "may not be specified ")
	}
	if len(s.Capacity) != 0 {
		forbid("capacity", "may not be specified ")
	}
	errs = append(errs, check.Present(s.CSI != nil, at.Child("csi"), "has to be specified "+inline)...)
	errs = append(errs, check.Present(len(s.AccessModes) > 0, at.Child("accessModes"), "")...)
	errs = append(errs, podspec.AccessModes(s.AccessModes, at.Child("accessModes"))...)
	if p := s.PersistentVolumeReclaimPolicy; p != "" && p != corev1.PersistentVolumeReclaimRetain {
		forbid("persistentVolumeReclaimPolicy", "may only be Retain ")
	}
	if s.NodeAffinity != nil {
		forbid("nodeAffinity", "may not be specified ")
	}
	errs = append(errs, podspec.OneSource(s, "", at)...)
	if s.StorageClassName != "" {
		forbid("storageClassName", "may not be specified ")
	}
	if m := s.VolumeMode; m != nil && *m != corev1.PersistentVolumeFilesystem {
		forbid("volumeMode", "may not specify volumeMode other than Filesystem ")
	}
	return errs
}

const maxVolumeMessage = 1024

func validateVolumeAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	errs := attachment(a)
	if a.Spec.Attacher == "" { // the declared rule returns only Required; upstream also returns this error
		errs = append(errs, check.DNSSubdomain("", field.NewPath("spec.attacher"))...)
	}
	return append(errs, check.Given(a.Spec.Source.PersistentVolumeName, field.NewPath("spec.source.persistentVolumeName"),
		check.DNSSubdomain)...)
}

// attachment checks the rules that apply to creations and to updates.
func attachment(a *storagev1.VolumeAttachment) (errs field.ErrorList) {
	spec, source := field.NewPath("spec"), field.NewPath("spec", "source")
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch s := &a.Spec.Source; {
	case s.InlineVolumeSpec == nil && s.PersistentVolumeName == nil:
		errs = append(errs, field.Required(source, one))
	case s.InlineVolumeSpec != nil && s.PersistentVolumeName != nil:
		errs = append(errs, field.Forbidden(source, one))
	case s.InlineVolumeSpec != nil:
		errs = append(errs, inlineVolumeSpec(s.InlineVolumeSpec, source.Child("inlineVolumeSpec"))...)
	case *s.PersistentVolumeName == "":
		errs = append(errs, field.Required(source.Child("persistentVolumeName"),
			"must specify non empty persistentVolumeName"))
	}
	errs = append(errs, check.DNSSubdomain(a.Spec.NodeName, spec.Child("nodeName"))...)
	status := field.NewPath("status")
	errs = append(errs, check.MaxBytes(bytesOf(a.Status.AttachmentMetadata), maxParameterBytes,
		status.Child("attachmentMetadata"))...)
	errs = append(errs, check.Optional(a.Status.AttachError, status.Child("attachError"), volumeError)...)
	return append(errs, check.Optional(a.Status.DetachError, status.Child("detachError"), volumeError)...)
}

func volumeError(e *storagev1.VolumeError, at *field.Path) field.ErrorList {
	errs := check.MaxBytes(len(e.Message), maxVolumeMessage, at.Child("message")) // V-065
	return append(errs, check.Reject(e.ErrorCode != nil && *e.ErrorCode < 0, at.Child("errorCode"), e.ErrorCode,
		utilvalidation.InclusiveRangeError(0, math.MaxInt32))...)
}

func validateVolumeAttachmentUpdate(a, _ *storagev1.VolumeAttachment) field.ErrorList {
	return check.Twice(attachment(a))
}

func attachmentTable() entry.Table {
	spec := storagev1.VolumeAttachmentSpec{}.SwaggerDoc()
	attacher := entry.Text("Attacher", spec["attacher"])
	attacher.Format = "name"
	return entry.Listed([]entry.Column{
		attacher,
		entry.Text("PV", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"]),
		entry.Text("Node", spec["nodeName"]),
		entry.Boolean("Attached", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"]),
	}, func(a *storagev1.VolumeAttachment) []any {
		return []any{
			a.Spec.Attacher,
			entry.ValueOr(a.Spec.Source.PersistentVolumeName, ""),
			a.Spec.NodeName,
			a.Status.Attached,
		}
	})
}
