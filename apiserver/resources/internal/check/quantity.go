package check

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// NotPositiveText is the error message for a quantity that must be greater than zero.
	NotPositiveText = "must be greater than zero"
	notIntegerText  = "must be an integer"
	negativeText    = apivalidation.IsNegativeErrorMsg
)

// NonNegativeQuantity requires zero or more.
func NonNegativeQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() < 0 {
		return field.ErrorList{field.Invalid(at, q.String(), negativeText)}
	}
	return nil
}

// PositiveQuantity requires more than zero.
func PositiveQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() <= 0 {
		return field.ErrorList{field.Invalid(at, q.String(), NotPositiveText)}
	}
	return nil
}

// ResourceQuantity requires a valid quantity of the resource: zero or more, and an integer if the resource is not
// divisible.
func ResourceQuantity(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	errs := NonNegativeQuantity(q, at)
	return append(errs, Reject(isIntegerResource(name) && q.MilliValue()%1000 != 0, at, q, notIntegerText)...)
}

// NameOfResource requires the qualified name of a resource; without a prefix it must be a known one.
func NameOfResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := QualifiedName(string(name), at)
	if len(errs) != 0 {
		return errs
	}
	return append(errs, Reject(!strings.Contains(string(name), "/") && !isStandardResource(name), at, name,
		"must be a standard resource type or fully qualified")...)
}

// IsHugePage reports whether a resource is huge pages of some size.
func IsHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// IsNativeResource reports whether the name is one of Kubernetes: without a prefix, or below kubernetes.io.
func IsNativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// IsExtendedResource reports whether the name is that of an extended resource.
func IsExtendedResource(name corev1.ResourceName) bool {
	if IsNativeResource(name) || strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(QualifiedName(corev1.DefaultResourceRequestsPrefix+string(name), nil)) == 0
}

// quotaObjects are the resources that count objects.
var quotaObjects = Set(corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices,
	corev1.ResourceReplicationControllers, corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers)

// measures are the resources with quantities.
var measures = Set(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage)

func isStandardResource(name corev1.ResourceName) bool {
	return IsQuotaResource(name) || name == corev1.ResourceStorage
}

// IsQuotaResource reports whether a quota may contain the name without a prefix.
func IsQuotaResource(name corev1.ResourceName) bool {
	return measures[name] || quotaObjects[name] || name == corev1.ResourceRequestsStorage ||
		IsHugePage(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

func isIntegerResource(name corev1.ResourceName) bool {
	return quotaObjects[name] || IsExtendedResource(name)
}

// Round rounds quantities up to thousandths (SetDefaults_ResourceList).
func Round(list corev1.ResourceList) {
	for name, q := range list {
		q.RoundUp(resource.Milli)
		list[name] = q
	}
}

// DefaultRequirements rounds the quantities of requirements up.
func DefaultRequirements(r *corev1.ResourceRequirements) {
	if r != nil {
		Round(r.Limits)
		Round(r.Requests)
	}
}

// ContainerResourceName requires a resource of containers.
func ContainerResourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := NameOfResource(name, at)
	switch {
	case !strings.Contains(string(name), "/"):
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage &&
			!IsHugePage(name) {
			errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
		}
	case !IsNativeResource(name) && !IsExtendedResource(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}
