package check

import "k8s.io/apimachinery/pkg/util/validation/field"

// Present requires a field; text is the detail of the error.
func Present(is bool, at *field.Path, text string) field.ErrorList {
	if is {
		return nil
	}
	return field.ErrorList{field.Required(at, text)}
}

// Each validates the items of a list.
func Each[T any](list []T, at *field.Path, item func(*T, *field.Path) field.ErrorList) (errs field.ErrorList) {
	for i := range list {
		errs = append(errs, item(&list[i], at.Index(i))...)
	}
	return errs
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
