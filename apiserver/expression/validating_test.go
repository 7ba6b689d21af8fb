package expression

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
)

// ofBindings are the recorded cases of bindings, params and matching, which are not evaluated here.
var ofBindings = map[string]bool{
	"generateName": true, "params missing Deny": true, "params missing Allow": true, "params missing Deny Ignore": true,
	"params selector none Deny": true, "paramKind unknown": true, "paramRef ns, cluster kind": true,
	"selectors nil": true, "two policies": true,
}

// TestRecordedValidating: policies give upstream's messages, reasons and audit annotations (M-41 to M-47).
func TestRecordedValidating(t *testing.T) {
	cases := read[admissionv1.ValidatingAdmissionPolicySpec](t, "validating.yaml")
	cases["budget of policy"] = exhausting()
	answers := recorded(t, "measured-policies.txt", "ValidatingAdmissionPolicy")
	for name := range answers {
		if _, ok := cases[name]; ok == ofBindings[name] {
			t.Errorf("%s: it is to be evaluated or about bindings", name)
		}
	}
	for name, spec := range cases {
		want, ok := answers[name]
		if !ok {
			t.Errorf("%s: there is no recorded answer", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			version := creation().In(podKind, pods, examplePod(), nil)
			if strings.HasPrefix(name, "DELETE") {
				request := creation()
				request.Operation = "DELETE"
				version = request.In(podKind, pods, nil, examplePod())
			}
			b := bindings()
			if name == "params used" {
				// As upstream's informer returned it: without a kind.
				b.Params = &corev1.ConfigMap{Data: map[string]string{"k": "v"}}
			}
			compare(t, want, CompileValidating(&spec).Validate(t.Context(), version, b))
		})
	}
}

// exhausting returns a policy whose validations exceed the budget together, but not alone. The recorded one needs
// seconds for that.
func exhausting() (s admissionv1.ValidatingAdmissionPolicySpec) {
	for range 12 {
		s.Validations = append(s.Validations, admissionv1.Validation{Expression: expensive()})
	}
	return s
}

// compare compares a result with a recorded answer.
func compare(t *testing.T, want outcome, got Result) {
	t.Helper()
	var denials []Failure
	for _, f := range got.Failures {
		if !f.Ignored {
			denials = append(denials, f)
		}
	}
	for _, message := range got.AnnotationErrors {
		denials = append(denials, Failure{Message: message, Reason: "Invalid"})
	}
	for _, a := range got.Annotations {
		if published := fmt.Sprintf("%q:%q", "pol.example.com/"+a.Key, a.Value); !strings.Contains(want.rest, published) {
			t.Errorf("%s is not in %s", published, want.rest)
		}
	}
	if n := strings.Count(want.rest, `"pol.example.com/`); len(got.Annotations) != n {
		t.Errorf("%d annotations, want %d", len(got.Annotations), n)
	}
	switch {
	case want.denied && len(denials) > 0:
		if denials[0].Message != want.said() || denials[0].Reason != want.reason {
			t.Errorf("got %s %q\nwant %s %q", denials[0].Reason, denials[0].Message, want.reason, want.said())
		}
	case want.denied:
		t.Errorf("not denied, want %q", want.said())
	case strings.Contains(want.rest, "Validation failed for"), strings.Contains(want.rest, "validation_failure"):
		// The binding only warns or audits.
		for _, said := range []string{
			"'bind': " + denials[0].Message + `"`, quoted(t, map[string]any{"message": denials[0].Message}),
		} {
			if strings.Contains(want.rest, said) {
				if index := fmt.Sprintf(`\"expressionIndex\":%d`, denials[0].Index); strings.Contains(want.rest, "audit=") &&
					!strings.Contains(want.rest, index) {
					t.Errorf("%s is not in %s", index, want.rest)
				}
				return
			}
		}
		t.Errorf("%q is not in %s", denials[0].Message, want.rest)
	case len(denials) > 0:
		t.Errorf("denied: %q, want none", denials[0].Message)
	}
}

// quoted is the beginning of a JSON object within a JSON string.
func quoted(t *testing.T, v any) string {
	inner, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := json.Marshal(strings.TrimSuffix(string(inner), "}"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(outer), `"`)
}
