package check

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PathSegment requires a valid segment of a URL path.
func PathSegment(value string, at *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return Apply(value, at, content.IsPathSegmentName)
}

// Rule returns the errors of a value; none if it is valid.
type Rule func(value string) []string

// Apply returns one error for each error of a rule.
func Apply(value string, at *field.Path, is Rule) (errs field.ErrorList) {
	for _, text := range is(value) {
		errs = append(errs, field.Invalid(at, value, text))
	}
	return errs
}

// DNSLabel requires an RFC 1123 label.
func DNSLabel(value string, at *field.Path) field.ErrorList {
	return Apply(value, at, utilvalidation.IsDNS1123Label)
}

// DNSSubdomain requires an RFC 1123 subdomain.
func DNSSubdomain(value string, at *field.Path) field.ErrorList {
	return Apply(value, at, utilvalidation.IsDNS1123Subdomain)
}

// QualifiedName requires a name with an optional DNS prefix, such as a label's key.
func QualifiedName(value string, at *field.Path) field.ErrorList {
	return Apply(value, at, utilvalidation.IsQualifiedName)
}
