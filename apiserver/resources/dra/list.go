package dra

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// listed validates each item, unless there are more than most (no limit if it is negative).
func listed[T any](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList,
) (errs field.ErrorList) {
	if most >= 0 && len(list) > most {
		return field.ErrorList{field.TooMany(at, len(list), most)}
	}
	for i := range list {
		errs = append(errs, item(&list[i], at.Index(i))...)
	}
	return errs
}

// distinct validates a list whose items have unique keys. The error of an item has its key.
func distinct[T any, K comparable](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList, key func(*T) K,
) field.ErrorList {
	return keyedOnce(list, most, at, item, key, func(i *T) any { return key(i) })
}

// unique is distinct for a list whose type declares its keys: the error has the whole item (AM
// pkg/api/validate/each.go: ValSliceUnique).
func unique[T any, K comparable](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList, key func(*T) K,
) field.ErrorList {
	return keyedOnce(list, most, at, item, key, func(i *T) any { return *i })
}

// keyedOnce validates a list; value is what the error of an item prints whose key another one has.
func keyedOnce[T any, K comparable](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList, key func(*T) K, value func(*T) any,
) field.ErrorList {
	errs := listed(list, most, at, item)
	if most >= 0 && len(list) > most {
		return errs
	}
	seen := map[K]bool{}
	for i := range list {
		k := key(&list[i])
		if seen[k] {
			errs = append(errs, field.Duplicate(at.Index(i), value(&list[i])))
		}
		seen[k] = true
	}
	return errs
}

// itself is the key of a string in a set.
func itself(s *string) string { return *s }
