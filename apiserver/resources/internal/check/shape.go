package check

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The paths of an object's spec, status and pod template.
var (
	SpecPath     = field.NewPath("spec")
	StatusPath   = field.NewPath("status")
	TemplatePath = SpecPath.Child("template")
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

// Present requires a field; text is the detail of the error.
func Present(is bool, at *field.Path, text string) field.ErrorList {
	if is {
		return nil
	}
	return field.ErrorList{field.Required(at, text)}
}

// MaxItems rejects a list of n items if n is greater than most.
func MaxItems(n, most int, at *field.Path) field.ErrorList {
	if n <= most {
		return nil
	}
	return field.ErrorList{field.TooMany(at, n, most)}
}

// MaxBytes rejects a value of n bytes if n is greater than most.
func MaxBytes(n, most int, at *field.Path) field.ErrorList {
	if n <= most {
		return nil
	}
	return field.ErrorList{field.TooLong(at, "", most)}
}

// Each validates the items of a list.
func Each[T any](list []T, at *field.Path, item func(*T, *field.Path) field.ErrorList) (errs field.ErrorList) {
	for i := range list {
		errs = append(errs, item(&list[i], at.Index(i))...)
	}
	return errs
}

// All validates the values of a list.
func All[T any](list []T, at *field.Path, is func(T, *field.Path) field.ErrorList) field.ErrorList {
	return Each(list, at, func(value *T, at *field.Path) field.ErrorList { return is(*value, at) })
}

// Given validates an optional value.
func Given[T any](value *T, at *field.Path, is func(T, *field.Path) field.ErrorList) field.ErrorList {
	if value == nil {
		return nil
	}
	return is(*value, at)
}

// NonEmpty validates an optional string.
func NonEmpty[T ~string](value T, at *field.Path, is func(T, *field.Path) field.ErrorList) field.ErrorList {
	if value == "" {
		return nil
	}
	return is(value, at)
}

// Set is a set of values.
func Set[T comparable](values ...T) map[T]bool {
	m := make(map[T]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}

// Sorted lists a map's keys in the order of error messages.
func Sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Unique holds the values of a list so far, which must be unique.
type Unique[T comparable] map[T]bool

// Add adds a value. It returns an error if the list already has the value.
func (u Unique[T]) Add(value T, at *field.Path) field.ErrorList {
	if u[value] {
		return field.ErrorList{field.Duplicate(at, value)}
	}
	u[value] = true
	return nil
}

// Must requires a value and validates it. text is the detail of the error for a missing value.
func Must[T any](value *T, at *field.Path, text string, is func(T, *field.Path) field.ErrorList) field.ErrorList {
	if value == nil {
		return field.ErrorList{field.Required(at, text)}
	}
	return is(*value, at)
}

// GivenOneOf is OneOf for an optional value.
func GivenOneOf[T ~string](value *T, at *field.Path, values []T) field.ErrorList {
	return Given(value, at, Among(values...))
}

// OneOf requires one of the values, which an error message lists in this order.
func OneOf[T ~string](value T, at *field.Path, values []T) field.ErrorList {
	if slices.Contains(values, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, values)}
}

// Required is OneOf, but reports an empty value as missing.
func Required[T ~string](value T, at *field.Path, values []T) field.ErrorList {
	return Needed(value, at, Among(values...))
}
