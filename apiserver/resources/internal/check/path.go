package check

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SpecPath is where an object's spec stands.
var SpecPath = field.NewPath("spec")

// StatusPath is where an object's status stands.
var StatusPath = field.NewPath("status")

// Natural wants zero or more.
func Natural[N ~int32 | ~int64](n N, at *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(n), at)
}

// Naturals wants that of each of those numbers that are there.
func Naturals[N ~int32 | ~int64](at *field.Path, name string, n *N) field.ErrorList {
	if n == nil {
		return nil
	}
	return Natural(*n, at.Child(name))
}

// Required wants one of the values and reports none at all as such.
func Required[T ~string](value T, at *field.Path, values []T) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(at, "")}
	case slices.Contains(values, value):
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, values)}
}

// TemplatePath is where the template of an object's pods stands.
var TemplatePath = SpecPath.Child("template")
