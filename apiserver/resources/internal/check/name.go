package check

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PathSegment requires a valid segment of a URL path, or nothing.
func PathSegment(value string, at *field.Path) field.ErrorList {
	return Apply(value, at, content.IsPathSegmentName)
}

// Apply returns a field error for each message that the rule returns. A rule returns none for a valid value.
func Apply[T any](value T, at *field.Path, is func(value T) []string) (errs field.ErrorList) {
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

// LabelValue requires the value of a label.
func LabelValue(value string, at *field.Path) field.ErrorList {
	return Apply(value, at, utilvalidation.IsValidLabelValue)
}

// QualifiedName requires a name with an optional DNS prefix, such as a label's key.
func QualifiedName(value string, at *field.Path) field.ErrorList {
	return Apply(value, at, utilvalidation.IsQualifiedName)
}
