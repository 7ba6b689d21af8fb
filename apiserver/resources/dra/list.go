package dra

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// listed validates each item, unless there are more than most.
func listed[T any](list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if len(list) > most {
		return field.ErrorList{field.TooMany(at, len(list), most)}
	}
	return each(list, most, at, item)
}

// each validates each item, unless there are more than most. The declared rules report a list that is too long.
func each[T any](list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList) field.ErrorList {
	if len(list) > most {
		return nil
	}
	return check.Each(list, at, item)
}

// distinct validates a list whose items have unique keys. The error of an item contains its key.
func distinct[T any, K comparable](
	list []T, most int, at *field.Path, item func(*T, *field.Path) field.ErrorList, key func(*T) K,
) field.ErrorList {
	errs := listed(list, most, at, item)
	if len(list) > most {
		return errs
	}
	seen := check.Unique[K]{}
	for i := range list {
		k := key(&list[i])
		errs = append(errs, seen.Add(k, at.Index(i))...)
	}
	return errs
}
