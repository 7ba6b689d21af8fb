package core

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func persistentVolumeClaims() *entry.Resource {
	return &entry.Resource{
		Plural: "persistentvolumeclaims", New: entry.New[corev1.PersistentVolumeClaim], Namespaced: true,
		ShortNames: []string{"pvc"},
		Strategy: entry.Strategy{
			Metadata: entry.Metadata{Again: 1},
			Default:  entry.Default(podspec.DefaultClaim),
			Prepare:  entry.Change(prepareClaim),
			Validate: entry.ValidateChange(validateClaim),
			Warnings: entry.Warn(claimWarnings),
		},
		Delete:       entry.Deletion{Returned: true},
		Subresources: entry.StatusOf(dropHealth, validateClaimStatus),
		Table:        claimTable(),
	}
}

// prepareClaim sets the phase Pending of a new claim, and makes the two fields for the data source consistent.
func prepareClaim(c, old *corev1.PersistentVolumeClaim) {
	if old == nil {
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	}
	dataSource(&c.Spec, check.ValueOf(old).Spec)
}

// dropHealth removes the field of CSIVolumeHealth, which is off (V-023).
var dropHealth = check.Gate[corev1.PersistentVolumeClaim](
	check.FieldsOf[corev1.PersistentVolumeClaimStatus]("HealthStatus"))

// dataSource drops a new dataSourceRef to another namespace, because CrossNamespaceVolumeDataSource is off. If neither
// claim has a dataSourceRef, it drops a new dataSource that is neither a claim nor a snapshot. If one of the two fields
// is empty, it then copies the other one to it, except a reference to another namespace.
func dataSource(s *corev1.PersistentVolumeClaimSpec, old corev1.PersistentVolumeClaimSpec) {
	if abroad(s.DataSourceRef) && old.DataSourceRef == nil {
		s.DataSourceRef = nil
	}
	if old.DataSource == nil && old.DataSourceRef == nil && s.DataSourceRef == nil && !claimOrSnapshot(s.DataSource) {
		s.DataSource = nil
	}
	from, ref := s.DataSource, s.DataSourceRef
	switch {
	case from != nil && ref == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: from.APIGroup, Kind: from.Kind, Name: from.Name}
	case from == nil && ref != nil && !abroad(ref):
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

func abroad(r *corev1.TypedObjectReference) bool {
	return r != nil && check.ValueOf(r.Namespace) != ""
}

func claimOrSnapshot(r *corev1.TypedLocalObjectReference) bool {
	if r == nil {
		return false
	}
	switch check.ValueOf(r.APIGroup) {
	case "":
		return r.Kind == "PersistentVolumeClaim"
	case "snapshot.storage.k8s.io":
		return r.Kind == "VolumeSnapshot"
	}
	return false
}

func claimWarnings(c, _ *corev1.PersistentVolumeClaim) []string {
	return append(classWarnings(c.Annotations), check.ClaimWarnings(field.NewPath("spec"), &c.Spec)...)
}

// validateClaim validates the new claim and then its change. Errors of the new claim occur twice, because
// upstream's strategy and its ValidatePersistentVolumeClaimUpdate both validate it.
func validateClaim(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	spec := field.NewPath("spec")
	if old == nil {
		return podspec.ValidateClaimSpec(&c.Spec, nil, spec)
	}
	errs := check.Twice(podspec.ValidateClaimSpec(&c.Spec, &old.Spec, spec))
	errs = append(errs, claimKept(c, old)...)
	size, was := c.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	got := old.Status.Capacity[corev1.ResourceStorage]
	errs = append(errs, check.Forbid(size.Cmp(was) < 0 && size.Cmp(got) <= 0,
		spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity")...)
	errs = append(errs, check.Immutable(c.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if class := c.Spec.VolumeAttributesClassName; old.Status.CurrentVolumeAttributesClassName != nil &&
		!check.SamePointee(class, old.Spec.VolumeAttributesClassName) {
		at := spec.Child("volumeAttributesClassName")
		if class == nil {
			errs = append(errs, field.Forbidden(at,
				"update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"))
		} else if *class == "" {
			errs = append(errs, field.Forbidden(at,
				"update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"))
		}
	}
	return errs
}

// claimKept rejects changes of immutable fields of a spec. An update may set a missing volume name or a missing class.
// It may also change the size and the attributes class of a bound claim.
func claimKept(c, old *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	was.VolumeName = cmp.Or(was.VolumeName, now.VolumeName)
	beta, class := corev1.BetaStorageClassAnnotation, c.Spec.StorageClassName
	oldBeta, hadBeta := old.Annotations[beta]
	newBeta, hasBeta := c.Annotations[beta]
	switch added := class != nil && old.Spec.StorageClassName == nil; {
	case added && hadBeta && *class == oldBeta && (!hasBeta || newBeta == oldBeta):
		now.StorageClassName = nil
	default:
		errs = append(errs, check.Reject(newBeta != oldBeta, field.NewPath("metadata", "annotations", beta), newBeta,
			apivalidation.FieldImmutableErrorMsg)...)
		if added && (!hadBeta || *class == oldBeta) {
			now.StorageClassName = was.StorageClassName
		}
	}
	if c.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = was.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"),
			fmt.Sprintf("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%v",
				check.Difference(was, now))))
	}
	return errs
}

func validateClaimStatus(c, _ *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	errs = append(errs, check.Present(c.ResourceVersion != "", field.NewPath("resourceVersion"), "")...)
	errs = append(errs, check.Present(len(c.Spec.AccessModes) > 0, field.NewPath("Spec", "accessModes"), "")...)
	status := field.NewPath("status")
	for _, name := range check.Sorted(c.Status.Capacity) {
		errs = append(errs, basicQuantity(c.Status.Capacity[name], status.Child("capacity").Key(string(name)))...)
	}
	for _, name := range check.Sorted(c.Status.AllocatedResourceStatuses) {
		at := status.Child("allocatedResourceStatus")
		errs = append(errs, claimResource(name, at)...)
		if !resizeStates[c.Status.AllocatedResourceStatuses[name]] {
			errs = append(errs, field.NotSupported(at, name, check.Sorted(resizeStates)))
		}
	}
	for _, name := range check.Sorted(c.Status.AllocatedResources) {
		at, q := status.Child("allocatedResources"), c.Status.AllocatedResources[name]
		if wrong := claimResource(name, at); len(wrong) > 0 {
			errs = append(errs, wrong...)
		} else {
			errs = append(errs, basicQuantity(q, at.Key(string(name)))...)
		}
	}
	return errs
}

var resizeStates = check.Set(corev1.PersistentVolumeClaimControllerResizeInProgress,
	corev1.PersistentVolumeClaimControllerResizeInfeasible,
	corev1.PersistentVolumeClaimNodeResizePending, corev1.PersistentVolumeClaimNodeResizeInProgress,
	corev1.PersistentVolumeClaimNodeResizeInfeasible)

// claimResource requires storage, or a resource that Kubernetes does not define.
func claimResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := check.QualifiedName(string(name), at)
	if len(errs) == 0 && check.IsNativeResource(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(at, string(name), []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return errs
}

func claimTable() entry.Table {
	spec, status := corev1.PersistentVolumeClaimSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("Status", status["phase"]),
		entry.Text("Volume", spec["volumeName"]),
		entry.Text("Capacity", status["capacity"]),
		entry.Text("Access Modes", status["accessModes"]),
		entry.Text("StorageClass", "StorageClass of the pvc"),
		entry.Text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
		entry.Wide(entry.Text("VolumeMode", spec["volumeMode"])),
	}, func(c *corev1.PersistentVolumeClaim) []any {
		phase := string(c.Status.Phase)
		if c.DeletionTimestamp != nil {
			phase = "Terminating"
		}
		// The columns show what the volume provides, not what the claim requests.
		capacity, modes := "", ""
		if c.Spec.VolumeName != "" {
			given := c.Status.Capacity[corev1.ResourceStorage]
			capacity, modes = given.String(), accessModes(c.Status.AccessModes)
		}
		return []any{
			phase,
			c.Spec.VolumeName,
			capacity,
			modes,
			storageClass(c.Annotations, entry.ValueOr(c.Spec.StorageClassName, "")),
			entry.ValueOr(c.Spec.VolumeAttributesClassName, entry.Unset),
			string(entry.ValueOr(c.Spec.VolumeMode, entry.Unset)),
		}
	})
}
