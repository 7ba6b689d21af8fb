package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// rule says what is wrong with a value; none means nothing.
type rule func(value string) []string

// judge is one error for everything that a rule finds wrong with a value.
func judge(value string, at *field.Path, is rule) (errs field.ErrorList) {
	for _, text := range invalid.Each(is(value), &errs) {
		errs = append(errs, field.Invalid(at, value, text))
	}
	return errs
}

// label wants an RFC 1123 label.
func label(value string, at *field.Path) field.ErrorList {
	return judge(value, at, utilvalidation.IsDNS1123Label)
}

// subdomain wants an RFC 1123 subdomain.
func subdomain(value string, at *field.Path) field.ErrorList {
	return judge(value, at, utilvalidation.IsDNS1123Subdomain)
}

// qualified wants a name with an optional DNS prefix, such as a label's key.
func qualified(value string, at *field.Path) field.ErrorList {
	return judge(value, at, utilvalidation.IsQualifiedName)
}

// whole makes a kind's name rule one of complete names.
func whole(is apivalidation.ValidateNameFunc) rule {
	return func(value string) []string { return is(value, false) }
}
