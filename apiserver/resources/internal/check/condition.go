package check

import "k8s.io/apimachinery/pkg/util/validation/field"

// Reject reports a value as invalid if a condition holds. Its arguments are evaluated in any case.
func Reject(when bool, at *field.Path, value any, text string) field.ErrorList {
	if !when {
		return nil
	}
	return field.ErrorList{field.Invalid(at, value, text)}
}

// Forbid reports a field that must not be set if a condition holds.
func Forbid(when bool, at *field.Path, text string) field.ErrorList {
	if !when {
		return nil
	}
	return field.ErrorList{field.Forbidden(at, text)}
}

// Optional validates an optional part of an object.
func Optional[T any](part *T, at *field.Path, is func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if part == nil {
		return nil
	}
	return is(part, at)
}

// Among makes a rule that requires one of the values, which an error message lists in this order.
func Among[T ~string](values ...T) func(T, *field.Path) field.ErrorList {
	return func(value T, at *field.Path) field.ErrorList { return OneOf(value, at, values) }
}

// Needed requires a string and validates it.
func Needed[T ~string](value T, at *field.Path, is func(T, *field.Path) field.ErrorList) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return is(value, at)
}
