package podspec

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NoBacksteps rejects the path element "..".
func NoBacksteps(p string, at *field.Path) field.ErrorList {
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return field.ErrorList{field.Invalid(at, p, "must not contain '..'")}
		}
	}
	return nil
}

// Descending requires a relative path without "..".
func Descending(p string, at *field.Path) (errs field.ErrorList) {
	if path.IsAbs(p) {
		errs = append(errs, field.Invalid(at, p, "must be a relative path"))
	}
	return append(errs, NoBacksteps(p, at)...)
}

// ProjectedPath requires a path that does not conflict with the names that the kubelet uses.
func ProjectedPath(p string, at *field.Path) field.ErrorList {
	errs := Descending(p, at)
	if strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "../") {
		errs = append(errs, field.Invalid(at, p, "must not start with '..'"))
	}
	return errs
}

// FileMode requires permission bits.
func FileMode(mode *int32, at *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}
