package check

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// IsTrueValue reports whether a flag is there and true.
func IsTrueValue(b *bool) bool { return b != nil && *b }

// WildcardAlone refuses an asterisk beside other values.
func WildcardAlone(values []string, what string, at *field.Path) field.ErrorList {
	if len(values) > 1 && slices.Contains(values, "*") {
		return field.ErrorList{field.Invalid(at, values, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

// IsTrue reads a flag that may be left out.
func IsTrue(flag *bool) bool { return flag != nil && *flag }

// LabelSelector validates a label selector. Values that no label can have are tolerated on an update of an
// object whose old selector was wrong.
func LabelSelector(now, was *metav1.LabelSelector, at *field.Path) field.ErrorList {
	opts := metav1validation.LabelSelectorValidationOptions{}
	opts.AllowInvalidLabelValueInSelector = len(invalid.Selector(was, opts, nil)) > 0
	return invalid.Selector(now, opts, at)
}

// Twice is an update's validation of a new object by both upstream's strategy and its ValidateXUpdate,
// so that clients see each error twice.
func Twice(errs field.ErrorList) field.ErrorList { return append(errs, errs...) }

// JSONObject wants the text of a JSON object; missing is said of null, and other says what is wrong
// with anything else.
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

// BalancerHost wants a DNS name, if there is one.
func BalancerHost(host string, at *field.Path) (errs field.ErrorList) {
	if host == "" {
		return nil
	}
	errs = DNSSubdomain(host, at)
	if netutils.ParseIPSloppy(host) != nil {
		errs = append(errs, field.Invalid(at, host, "must be a DNS name, not an IP address"))
	}
	return errs
}

// SamePointee compares what two pointers point to.
func SamePointee[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// RequireAll wants each of the values, which come with their paths' last elements.
func RequireAll(at *field.Path, pairs ...string) (errs field.ErrorList) {
	for i, value := range invalid.Each(pairs, &errs) {
		if i%2 == 1 && value == "" {
			errs = append(errs, field.Required(at.Child(pairs[i-1]), ""))
		}
	}
	return errs
}
