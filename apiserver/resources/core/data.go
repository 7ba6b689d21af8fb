package core

import (
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// sealedText is the error message for a change of an immutable object.
const sealedText = "field is immutable when `immutable` is set"

// dataKeys validates the keys of a config map or secret.
func dataKeys[V any](bag map[string]V, at *field.Path) (errs field.ErrorList) {
	for _, key := range check.Sorted(bag) {
		errs = append(errs, check.Apply(key, at.Key(key), utilvalidation.IsConfigMapKey)...)
	}
	return errs
}

// kept has the name of a field of an immutable object, and whether the field is unchanged.
type kept struct {
	name string
	kept bool
}

// sealed rejects changes of an immutable object.
func sealed(immutable *bool, parts ...kept) (errs field.ErrorList) {
	errs = append(errs, check.Forbid(!check.IsTrue(immutable), field.NewPath("immutable"), sealedText)...)
	for _, p := range parts {
		errs = append(errs, check.Forbid(!p.kept, field.NewPath(p.name), sealedText)...)
	}
	return errs
}
