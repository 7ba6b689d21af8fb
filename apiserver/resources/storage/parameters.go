package storage

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

const (
	maxParameters     = 512
	maxParameterBytes = 256 << 10
)

func provisioner(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, name)}
	}
	return check.QualifiedName(strings.ToLower(name), at)
}

func parameters(list map[string]string, none bool, at *field.Path) (errs field.ErrorList) {
	if len(list) > maxParameters {
		return field.ErrorList{field.TooLong(at, "", maxParameters)}
	}
	size := 0
	for key, value := range list {
		size += len(key) + len(value)
	}
	if _, empty := list[""]; empty {
		errs = append(errs, field.Invalid(at, "", "field can not be empty."))
	}
	if size > maxParameterBytes {
		errs = append(errs, field.TooLong(at, "", maxParameterBytes))
	}
	if !none && len(list) == 0 {
		errs = append(errs, field.Required(at, "must contain at least one key/value pair"))
	}
	return errs
}
