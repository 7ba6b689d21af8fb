package loopback_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"

// policyOn returns a policy on resources of a group version, with an expression and other fields of the spec.
func policyOn(name, group, version, resource, expression, more string) string {
	return fmt.Sprintf(
		`{"metadata":{"name":%q},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[%q],"apiVersions":[%q],`+
			`"resources":[%q],"operations":["CREATE"]}]},"validations":[{"expression":%q}]%s}}`,
		name, group, version, resource, expression, more,
	)
}

// checked waits until a generation of a policy was checked, and returns the warnings.
func checked(t *testing.T, w *apiservertest.Watch, name string, generation int64) []admissionv1.ExpressionWarning {
	t.Helper()
	o := shows(t, w, name, fmt.Sprintf(`"observedGeneration":%d`, generation))
	var p admissionv1.ValidatingAdmissionPolicy
	data, err := o.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	// Server-side apply removes typeChecking when it removes the last of its fields; at first it is {}.
	if err != nil || p.Generation != generation || p.Status.TypeChecking == nil && generation == 1 {
		t.Fatalf("%v %s", err, data)
	}
	if !slices.ContainsFunc(p.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == "validatingadmissionpolicy-status" && e.Operation == "Apply" && e.Subresource == "status"
	}) {
		t.Errorf("managed fields %v", p.ManagedFields)
	}
	if p.Status.TypeChecking == nil {
		return nil
	}
	return p.Status.TypeChecking.ExpressionWarnings
}

// TestPolicyStatus: the status has a warning for each expression that is wrong for the types of the objects or the
// params, whether built-in or custom. Wildcards and subresources are not checked (M-S09, M-52, M-53).
func TestPolicyStatus(t *testing.T) {
	s := defined(t, nil)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	starts(t, s, "validatingadmissionpolicy-status-controller")
	w := s.Watch(policies + "?watch=1")
	const none = ""
	const params = `,"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`
	const customParams = `,"paramKind":{"apiVersion":"example.com/v1","kind":"Widget"}`
	for i, c := range []struct{ group, version, resource, expression, more, want string }{
		{"apps", "v1", "deployments", "object.spec.nope == 1", "", "apps/v1, Kind=Deployment: " +
			"ERROR: <input>:1:12: undefined field 'nope'\n | object.spec.nope == 1\n | ...........^\n"},
		{"apps", "v1", "deployments", "object.spec.replicas == 1", "", none},
		{"*", "v1", "deployments", "object.spec.nope == 1", "", none},
		{"apps", "*", "deployments", "object.spec.nope == 1", "", none},
		{"apps", "v1", "*", "object.spec.nope == 1", "", none},
		{"apps", "v1", "deployments/scale", "object.spec.nope == 1", "", none},
		{"example.com", "v1", "widgets", "object.spec.nope == 1", "", "example.com/v1, Kind=Widget: " +
			"ERROR: <input>:1:12: undefined field 'nope'\n | object.spec.nope == 1\n | ...........^\n"},
		{"example.com", "v1", "widgets", "object.spec.size == 1 && object.metadata.name == 'a'", "",
			none},
		{"", "v1", "pods", "params.data['a'] == 1", params, "/v1, Kind=Pod: ERROR: <input>:1:18: " +
			"found no matching overload for '_==_' applied to '(string, int)'\n | params.data['a'] == 1\n" +
			" | .................^\n"},
		{"", "v1", "pods", "params.spec.size == 'a'", customParams, "/v1, Kind=Pod: ERROR: <input>:1:18: " +
			"found no matching overload for '_==_' applied to '(int, string)'\n | params.spec.size == 'a'\n" +
			" | .................^\n"},
	} {
		name := fmt.Sprintf("p%d.example.com", i)
		do(t, s, "POST", policies, policyOn(name, c.group, c.version, c.resource, c.expression, c.more))
		var want []admissionv1.ExpressionWarning
		if c.want != none {
			want = []admissionv1.ExpressionWarning{{FieldRef: "spec.validations[0].expression", Warning: c.want}}
		}
		if diff := cmp.Diff(want, checked(t, w, name, 1)); diff != "" {
			t.Errorf("%s: %s", c.expression, diff)
		}
	}
	do(t, s, "PATCH", policies+"/p0.example.com", `{"spec":{"validations":[{"expression":"object.spec.paused == true"}]}}`)
	if got := checked(t, w, "p0.example.com", 2); got != nil {
		t.Errorf("the warnings of another generation: %v", got)
	}
}

// TestPolicyStatusOfLaterKind: a policy is not checked again when its kind is served later, only when its spec changes
// (M-55).
func TestPolicyStatusOfLaterKind(t *testing.T) {
	s := defined(t, nil)
	starts(t, s, "validatingadmissionpolicy-status-controller")
	w := s.Watch(policies + "?watch=1")
	early := policyOn("early", "example.com", "v1", "widgets", "object.spec.nope == 1", "")
	do(t, s, "POST", policies, early)
	if got := checked(t, w, "early", 1); got != nil {
		t.Errorf("a kind that is not served has warnings: %v", got)
	}
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	// The controller checks one policy at a time, in the order of events: when it has checked the later one, and an
	// event of the early one without a new generation, the early one's status is final.
	do(t, s, "PATCH", policies+"/early", `{"metadata":{"labels":{"a":"b"}}}`)
	do(t, s, "POST", policies, policyOn("late", "example.com", "v1", "widgets", "object.spec.nope == 1", ""))
	if got := checked(t, w, "late", 1); len(got) != 1 {
		t.Errorf("a kind that is served has warnings %v", got)
	}
	var p admissionv1.ValidatingAdmissionPolicy
	if err := json.Unmarshal(s.Do("GET", policies+"/early", nil).Body, &p); err != nil ||
		len(p.Status.TypeChecking.ExpressionWarnings) != 0 {
		t.Errorf("%v: it was checked again: %v", err, p.Status.TypeChecking)
	}
	do(t, s, "PATCH", policies+"/early", `{"spec":{"failurePolicy":"Ignore"}}`)
	if got := checked(t, w, "early", 2); len(got) != 1 {
		t.Errorf("the next generation has warnings %v", got)
	}
}
