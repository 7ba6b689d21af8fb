package check

import (
	"encoding/json"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// WildcardAlone rejects an asterisk in a list with other values.
func WildcardAlone(values []string, what string, at *field.Path) field.ErrorList {
	return Reject(len(values) > 1 && slices.Contains(values, "*"), at, values,
		"if '*' is present, must not specify other "+what)
}

// IsTrue reports whether an optional flag is true.
func IsTrue(flag *bool) bool { return flag != nil && *flag }

// LabelSelector validates a label selector. An update may contain invalid label values if the old selector was invalid.
func LabelSelector(now, was *metav1.LabelSelector, at *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{}
	opts.AllowInvalidLabelValueInSelector = len(metav1validation.ValidateLabelSelector(was, opts, nil)) > 0
	return metav1validation.ValidateLabelSelector(now, opts, at)
}

// Twice returns each error twice: upstream's strategy and its Validate...Update both validate such an update.
func Twice(errs field.ErrorList) field.ErrorList { return append(errs, errs...) }

// JSONObject requires a JSON object; missing is the message for null, and other is the error for anything else.
func JSONObject(text []byte, missing string, other *field.Error, at *field.Path) field.ErrorList {
	var v any
	err := json.Unmarshal(text, &v)
	_, is := v.(map[string]any)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, "<value omitted>", "error parsing data as JSON: "+err.Error())}
	case v == nil:
		return field.ErrorList{field.Required(at, missing)}
	case !is:
		return field.ErrorList{other}
	}
	return nil
}

// BalancerHost requires a DNS name, unless it is empty.
func BalancerHost(host string, at *field.Path) (errs field.ErrorList) {
	if host == "" {
		return nil
	}
	errs = DNSSubdomain(host, at)
	return append(errs, Reject(netutils.ParseIPSloppy(host) != nil, at, host, "must be a DNS name, not an IP address")...)
}

// SamePointee compares the targets of two pointers.
func SamePointee[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// RequireAll requires that each of the values is set. Each pair is the last path element and the value.
func RequireAll(at *field.Path, pairs ...string) (errs field.ErrorList) {
	for i, value := range pairs {
		if i%2 == 1 && value == "" {
			errs = append(errs, field.Required(at.Child(pairs[i-1]), ""))
		}
	}
	return errs
}

// Immutable rejects a change.
func Immutable(now, was any, at *field.Path) field.ErrorList {
	return Reject(!apiequality.Semantic.DeepEqual(was, now), at, now, apivalidation.FieldImmutableErrorMsg)
}
