package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	notPositiveText = "must be greater than zero"
	notIntegerText  = "must be an integer"
	negativeText    = apivalidation.IsNegativeErrorMsg
)

// nonNegativeQuantity wants zero or more.
func nonNegativeQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() < 0 {
		return field.ErrorList{field.Invalid(at, q.String(), negativeText)}
	}
	return nil
}

// positiveQuantity wants more than zero.
func positiveQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Sign() <= 0 {
		return field.ErrorList{field.Invalid(at, q.String(), notPositiveText)}
	}
	return nil
}

// resourceQuantity wants an amount that can be of that resource: zero or more, and whole where
// only whole ones exist.
func resourceQuantity(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	errs := nonNegativeQuantity(q, at)
	if isIntegerResource(name) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q, notIntegerText))
	}
	return errs
}

// resourceName wants the qualified name of a resource; without a prefix it must be a known one.
func resourceName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	errs := qualified(string(name), at)
	if len(errs) != 0 {
		return errs
	}
	if !strings.Contains(string(name), "/") && !isStandardResource(name) {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

func isHugePage(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isNativeResource says that the name is Kubernetes' own: without a prefix or below kubernetes.io.
func isNativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtendedResource says that the name is one of a device's or of an operator's own.
func isExtendedResource(name corev1.ResourceName) bool {
	if isNativeResource(name) || strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(qualified(corev1.DefaultResourceRequestsPrefix+string(name), nil)) == 0
}

// quotaObjects are the resources that count objects.
var quotaObjects = set(corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers,
	corev1.ResourceSecrets, corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers)

// measures are the resources that are measured, wherever they are named.
var measures = set(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage)

func isStandardResource(name corev1.ResourceName) bool {
	return isQuotaResource(name) || name == corev1.ResourceStorage
}

// isQuotaResource says that a quota may name it without a prefix.
func isQuotaResource(name corev1.ResourceName) bool {
	return measures[name] || quotaObjects[name] || name == corev1.ResourceRequestsStorage ||
		isHugePage(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// basicQuantity wants zero or more, in upstream's other words.
func basicQuantity(q resource.Quantity, at *field.Path) field.ErrorList {
	if q.Value() < 0 {
		return field.ErrorList{field.Invalid(at, q.Value(), "must be a valid resource quantity")}
	}
	return nil
}

func isIntegerResource(name corev1.ResourceName) bool {
	return quotaObjects[name] || isExtendedResource(name)
}
