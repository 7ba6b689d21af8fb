package dra

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// listed validates each item, unless there are more than most (no limit if it is negative).
func listed[T any](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList,
) (errs field.ErrorList) {
	if most >= 0 && len(list) > most {
		return field.ErrorList{field.TooMany(at, len(list), most)}
	}
	for i := range invalid.Each(list, &errs) {
		errs = append(errs, item(&list[i], at.Index(i))...)
	}
	return errs
}

// distinct validates a list whose items have unique keys.
func distinct[T any, K comparable](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList, key func(*T) K,
) field.ErrorList {
	errs := listed(list, most, at, item)
	if most >= 0 && len(list) > most {
		return errs
	}
	seen := map[K]bool{}
	for i := range invalid.Each(list, &errs) {
		k := key(&list[i])
		if seen[k] {
			errs = append(errs, field.Duplicate(at.Index(i), k))
		}
		seen[k] = true
	}
	return errs
}

// itself is the key of a string in a set.
func itself(s *string) string { return *s }
