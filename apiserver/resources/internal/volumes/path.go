package volumes

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NoBacksteps refuses ".." among a path's elements.
func NoBacksteps(p string, at *field.Path) field.ErrorList {
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return field.ErrorList{field.Invalid(at, p, "must not contain '..'")}
		}
	}
	return nil
}

// Descending wants a path that leads nowhere but below.
func Descending(p string, at *field.Path) (errs field.ErrorList) {
	if path.IsAbs(p) {
		errs = append(errs, field.Invalid(at, p, "must be a relative path"))
	}
	return append(errs, NoBacksteps(p, at)...)
}

// ProjectedPath wants a path that doesn't collide with the names that projection uses itself.
func ProjectedPath(p string, at *field.Path) field.ErrorList {
	errs := Descending(p, at)
	if strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "../") {
		errs = append(errs, field.Invalid(at, p, "must not start with '..'"))
	}
	return errs
}

// FileMode wants permission bits.
func FileMode(mode *int32, at *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}
