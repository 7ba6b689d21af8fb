package storage

import (
	"reflect"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func volumeAttributesClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "volumeattributesclasses", New: entry.New[storagev1.VolumeAttributesClass],
		ShortNames: []string{"vac"},
		Strategy: entry.Strategy{
			Validate: entry.ValidateEither(validateVolumeAttributesClass, validateVolumeAttributesClassUpdate),
		},
		Delete: entry.Deletion{Returned: true},
		Table: entry.Listed(
			[]entry.Column{entry.Text("DriverName", storagev1.VolumeAttributesClass{}.SwaggerDoc()["driverName"])},
			func(c *storagev1.VolumeAttributesClass) []any { return []any{c.DriverName} }),
	}
}

func validateVolumeAttributesClass(c *storagev1.VolumeAttributesClass) field.ErrorList {
	return append(
		provisioner(c.DriverName, field.NewPath("driverName")),
		parameters(c.Parameters, false, field.NewPath("parameters"))...,
	)
}

func validateVolumeAttributesClassUpdate(c, old *storagev1.VolumeAttributesClass) field.ErrorList {
	errs := validateVolumeAttributesClass(c)
	errs = append(errs, check.Forbid(c.DriverName != old.DriverName, field.NewPath("driverName"),
		"updates to driverName are forbidden.")...)
	errs = append(errs, check.Forbid(!reflect.DeepEqual(c.Parameters, old.Parameters), field.NewPath("parameters"),
		"updates to parameters are forbidden.")...)
	return append(errs, validateVolumeAttributesClass(c)...)
}

const (
	maxParameters     = 512
	maxParameterBytes = 256 << 10
)

func provisioner(name string, at *field.Path) field.ErrorList {
	return check.Needed(strings.ToLower(name), at, check.QualifiedName)
}

func parameters(list map[string]string, none bool, at *field.Path) (errs field.ErrorList) {
	if len(list) > maxParameters {
		return field.ErrorList{field.TooLong(at, "", maxParameters)}
	}
	if _, empty := list[""]; empty {
		errs = append(errs, field.Invalid(at, "", "field can not be empty."))
	}
	errs = append(errs, check.MaxBytes(bytesOf(list), maxParameterBytes, at)...)
	return append(errs, check.Present(none || len(list) > 0, at, "must contain at least one key/value pair")...)
}

// bytesOf returns the total size of all keys and values.
func bytesOf(all map[string]string) (size int) {
	for key, value := range all {
		size += len(key) + len(value)
	}
	return size
}
