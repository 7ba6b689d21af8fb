package check

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SpecPath is the path of an object's spec.
var SpecPath = field.NewPath("spec")

// StatusPath is the path of an object's status.
var StatusPath = field.NewPath("status")

// Natural requires a number of zero or more.
func Natural[N ~int32 | ~int64](n N, at *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(n), at)
}

// Naturals requires Natural for each of these numbers that is set.
func Naturals[N ~int32 | ~int64](at *field.Path, name string, n *N) field.ErrorList {
	if n == nil {
		return nil
	}
	return Natural(*n, at.Child(name))
}

// Required requires one of the values, and reports an empty value as missing.
func Required[T ~string](value T, at *field.Path, values []T) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(at, "")}
	case slices.Contains(values, value):
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, values)}
}

// TemplatePath is the path of an object's pod template.
var TemplatePath = SpecPath.Child("template")
