package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SetDefault sets a nil pointer to a value.
func SetDefault[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}

// FillDefault replaces an empty value.
func FillDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
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
