package validation

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const (
	maxParameters     = 512
	maxParameterBytes = 256 << 10
	maxVolumeMessage  = 1024
)

var (
	classReclaimPolicies = []corev1.PersistentVolumeReclaimPolicy{corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain}
	bindingModes         = []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}
)

func storageClass(c *storagev1.StorageClass) field.ErrorList {
	errs := provisioner(c.Provisioner, field.NewPath("provisioner"))
	errs = append(errs, parameters(c.Parameters, true, field.NewPath("parameters"))...)
	if p := c.ReclaimPolicy; p != nil && *p != "" {
		errs = append(errs, oneOf(*p, field.NewPath("reclaimPolicy"), classReclaimPolicies)...)
	}
	if c.VolumeBindingMode == nil {
		errs = append(errs, field.Required(field.NewPath("volumeBindingMode"), ""))
	} else {
		errs = append(errs, oneOf(*c.VolumeBindingMode, field.NewPath("volumeBindingMode"), bindingModes)...)
	}
	return append(errs, topologies(c.AllowedTopologies, field.NewPath("allowedTopologies"))...)
}

func storageClassUpdate(c, old *storagev1.StorageClass) field.ErrorList {
	errs := storageClass(c)
	for _, f := range []struct {
		name string
		kept bool
	}{
		{"parameters", reflect.DeepEqual(c.Parameters, old.Parameters)},
		{"provisioner", c.Provisioner == old.Provisioner},
		{"reclaimPolicy", same(c.ReclaimPolicy, old.ReclaimPolicy)},
	} {
		if !f.kept {
			errs = append(errs, field.Forbidden(field.NewPath(f.name), "updates to "+f.name+" are forbidden."))
		}
	}
	return append(errs, immutable(c.VolumeBindingMode, old.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
}

func provisioner(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, name)}
	}
	return qualified(strings.ToLower(name), at)
}

func parameters(list map[string]string, none bool, at *field.Path) (errs field.ErrorList) {
	if len(list) > maxParameters {
		return field.ErrorList{field.TooLong(at, "", maxParameters)}
	}
	size := 0
	for key, value := range list {
		size += len(key) + len(value)
	}
	if _, empty := list[""]; empty {
		errs = append(errs, field.Invalid(at, "", "field can not be empty."))
	}
	if size > maxParameterBytes {
		errs = append(errs, field.TooLong(at, "", maxParameterBytes))
	}
	if !none && len(list) == 0 {
		errs = append(errs, field.Required(at, "must contain at least one key/value pair"))
	}
	return errs
}

// topologies judges each term and wants no two to be the same. Upstream compares each with as many
// empty ones first as there are terms, so that an empty term is reported once for each of them.
func topologies(terms []corev1.TopologySelectorTerm, at *field.Path) (errs field.ErrorList) {
	same := map[string]int{topologyID(nil): len(terms)}
	for i, term := range invalid.Each(terms, &errs) {
		at := at.Index(i).Child("matchLabelExpressions")
		values := map[string]map[string]bool{}
		for j, r := range invalid.Each(term.MatchLabelExpressions, &errs) {
			at := at.Index(j)
			if len(r.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), ""))
			}
			has := map[string]bool{}
			for k, value := range invalid.Each(r.Values, &errs) {
				if has[value] {
					errs = append(errs, field.Duplicate(at.Child("values").Index(k), value))
				}
				has[value] = true
			}
			errs = append(errs, metav1validation.ValidateLabelName(r.Key, at.Child("key"))...)
			if _, again := values[r.Key]; again {
				errs = append(errs, field.Duplicate(at.Child("key"), r.Key))
			}
			values[r.Key] = has
		}
		id := topologyID(values)
		for range invalid.Each(make([]struct{}, same[id]), &errs) {
			errs = append(errs, field.Duplicate(at, ""))
		}
		same[id]++
	}
	return errs
}

// topologyID is the same for terms with the same keys and values.
func topologyID(values map[string]map[string]bool) string {
	var b strings.Builder
	for _, key := range sorted(values) {
		fmt.Fprintf(&b, "%q:%q,", key, sorted(values[key]))
	}
	return b.String()
}

func volumeAttributesClass(c *storagev1.VolumeAttributesClass) field.ErrorList {
	return append(provisioner(c.DriverName, field.NewPath("driverName")), parameters(c.Parameters, false, field.NewPath("parameters"))...)
}

func volumeAttributesClassUpdate(c, old *storagev1.VolumeAttributesClass) field.ErrorList {
	errs := volumeAttributesClass(c)
	if c.DriverName != old.DriverName {
		errs = append(errs, field.Forbidden(field.NewPath("driverName"), "updates to driverName are forbidden."))
	}
	if !reflect.DeepEqual(c.Parameters, old.Parameters) {
		errs = append(errs, field.Forbidden(field.NewPath("parameters"), "updates to parameters are forbidden."))
	}
	return append(errs, volumeAttributesClass(c)...)
}

func volumeAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	errs := attachment(a)
	errs = append(errs, csiDriver(a.Spec.Attacher, field.NewPath("spec.attacher"))...)
	if name := a.Spec.Source.PersistentVolumeName; name != nil {
		errs = append(errs, judge(*name, field.NewPath("spec.source.persistentVolumeName"), whole(apivalidation.NameIsDNSSubdomain))...)
	}
	return errs
}

// attachment is what old attachments have to fulfil, too.
func attachment(a *storagev1.VolumeAttachment) (errs field.ErrorList) {
	spec, source := field.NewPath("spec"), field.NewPath("spec", "source")
	if a.Spec.Attacher == "" {
		errs = append(errs, field.Required(spec.Child("attacher"), ""))
	}
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch s := &a.Spec.Source; {
	case s.InlineVolumeSpec == nil && s.PersistentVolumeName == nil:
		errs = append(errs, field.Required(source, one))
	case s.InlineVolumeSpec != nil && s.PersistentVolumeName != nil:
		errs = append(errs, field.Forbidden(source, one))
	case s.InlineVolumeSpec != nil:
		errs = append(errs, inlineVolumeSpec(s.InlineVolumeSpec, source.Child("inlineVolumeSpec"))...)
	case *s.PersistentVolumeName == "":
		errs = append(errs, field.Required(source.Child("persistentVolumeName"), "must specify non empty persistentVolumeName"))
	}
	errs = append(errs, nodeName(a.Spec.NodeName, spec.Child("nodeName"))...)
	status, size := field.NewPath("status"), 0
	for key, value := range a.Status.AttachmentMetadata {
		size += len(key) + len(value)
	}
	if size > maxParameterBytes {
		errs = append(errs, field.TooLong(status.Child("attachmentMetadata"), "", maxParameterBytes))
	}
	errs = append(errs, volumeError(a.Status.AttachError, status.Child("attachError"))...)
	return append(errs, volumeError(a.Status.DetachError, status.Child("detachError"))...)
}

func volumeError(e *storagev1.VolumeError, at *field.Path) (errs field.ErrorList) {
	if e == nil {
		return nil
	}
	if len(e.Message) > maxVolumeMessage {
		// Upstream prints another field's limit.
		errs = append(errs, field.TooLong(at.Child("message"), "", maxParameterBytes))
	}
	if e.ErrorCode != nil && *e.ErrorCode < 0 {
		errs = append(errs, field.Invalid(at.Child("errorCode"), *e.ErrorCode, utilvalidation.InclusiveRangeError(0, math.MaxInt32)))
	}
	return errs
}

func volumeAttachmentUpdate(a, old *storagev1.VolumeAttachment) field.ErrorList {
	return append(twice(attachment(a)), immutable(a.Spec, old.Spec, field.NewPath("spec"))...)
}

func storageCapacity(c *storagev1.CSIStorageCapacity) field.ErrorList {
	return storageCapacityOver(c, &storagev1.CSIStorageCapacity{})
}

func storageCapacityOver(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := selector(c.NodeTopology, old.NodeTopology, field.NewPath("nodeTopology"))
	errs = append(errs, judge(c.StorageClassName, field.NewPath("storageClassName"), whole(apivalidation.NameIsDNSSubdomain))...)
	if c.Capacity != nil {
		errs = append(errs, nonNegativeQuantity(*c.Capacity, field.NewPath("capacity"))...)
	}
	return errs
}

func storageCapacityUpdate(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := storageCapacityOver(c, old)
	errs = append(errs, immutable(c.NodeTopology, old.NodeTopology, field.NewPath("nodeTopology"))...)
	return append(errs, immutable(c.StorageClassName, old.StorageClassName, field.NewPath("storageClassName"))...)
}
