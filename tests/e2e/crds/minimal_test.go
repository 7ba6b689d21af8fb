package crds

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// minimal returns a valid value for the schema that has only required fields. n distinguishes the values of one list.
// It does not evaluate expressions.
func minimal(s *apiextensionsv1.JSONSchemaProps, n int) any {
	switch {
	case len(s.Enum) > 0:
		var v any
		_ = json.Unmarshal(s.Enum[0].Raw, &v) // the schema was accepted
		return v
	case s.XIntOrString:
		return 1 + n
	}
	switch s.Type {
	case "object":
		return minimalObject(s)
	case "array":
		items := []any{}
		for i := range least(s.MinItems) {
			items = append(items, minimal(s.Items.Schema, i))
		}
		return items
	case "string":
		return minimalString(s, n)
	case "integer", "number":
		v := float64(n)
		if s.Minimum != nil {
			v += *s.Minimum
		}
		return v
	case "boolean":
		return false
	}
	return map[string]any{}
}

func least(n *int64) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

func minimalObject(s *apiextensionsv1.JSONSchemaProps) map[string]any {
	out := map[string]any{}
	required := slices.Clone(s.Required)
	for _, some := range [][]apiextensionsv1.JSONSchemaProps{s.OneOf, s.AnyOf} {
		if len(some) > 0 {
			required = append(required, some[0].Required...)
		}
	}
	for _, name := range required {
		if p, ok := s.Properties[name]; ok && p.Default == nil {
			out[name] = minimal(&p, 0)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for i := range least(s.MinProperties) {
			out[strings.Repeat("a", i+1)] = minimal(s.AdditionalProperties.Schema, i)
		}
		return out
	}
	for _, name := range slices.Sorted(keys(s.Properties)) {
		if p := s.Properties[name]; len(out) < least(s.MinProperties) && out[name] == nil && p.Default == nil {
			out[name] = minimal(&p, 0)
		}
	}
	return out
}

func keys(m map[string]apiextensionsv1.JSONSchemaProps) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// samples are tried in order as values of a string with a pattern.
var samples = []string{
	"a", "1", "A", "example.com", "example.com/a", "1s", "1m0s", "1Gi", "10", "v1.0.0", "https://example.com",
	"http://example.com/a", "/a", "oci://a/b", "a@b", "10.0.0.0/8",
}

func minimalString(s *apiextensionsv1.JSONSchemaProps, n int) string {
	switch s.Format {
	case "date-time":
		return "2020-01-01T00:00:00Z"
	case "byte":
		return "YQ=="
	case "uri":
		return "https://example.com"
	}
	var like []*regexp.Regexp
	for _, one := range append([]apiextensionsv1.JSONSchemaProps{*s}, s.AllOf...) {
		if one.Pattern != "" {
			like = append(like, regexp.MustCompile(one.Pattern))
		}
	}
	for _, sample := range samples[n%3:] {
		if slices.IndexFunc(like, func(r *regexp.Regexp) bool { return !r.MatchString(sample) }) < 0 {
			return sample + strings.Repeat("a", max(0, least(s.MinLength)-len(sample)))
		}
	}
	return "a"
}
