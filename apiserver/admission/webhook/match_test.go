package webhook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
)

// list splits a list; an empty one has no items.
func list[T ~string](s string) (out []T) {
	for item := range strings.SplitSeq(s, ",") {
		if s != "" {
			out = append(out, T(item))
		}
	}
	return out
}

// ruleOf parses a rule of testdata.
func ruleOf(t *testing.T, fields []string, r *admission.Rules) (rule admissionregistrationv1.RuleWithOperations) {
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "ops":
			rule.Operations = list[admissionregistrationv1.OperationType](value)
		case "groups":
			rule.APIGroups = list[string](value)
		case "versions":
			rule.APIVersions = list[string](value)
		case "resources":
			rule.Resources = list[string](value)
		case "scope":
			scope := admissionregistrationv1.ScopeType(value)
			rule.Scope = &scope
		case "policy":
			r.Equivalent = value == "Equivalent"
		default:
			t.Fatalf("unknown field %q", f)
		}
	}
	return rule
}

func resourceOf(s string) (r schema.GroupVersionResource, sub string) {
	parts := append(strings.Split(s, "/"), "")
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}, parts[3]
}

// TestRules runs testdata/rules.txt.
func TestRules(t *testing.T) {
	datadriven.RunTest(t, "testdata/rules.txt", func(t *testing.T, d *datadriven.TestData) string {
		// The first line is a command to the library; its arguments are read here, as they have commas.
		var r admission.Rules
		first := ""
		for _, a := range d.CmdArgs {
			first += " " + a.Key
			if len(a.Vals) > 0 {
				first += "=" + strings.Join(a.Vals, ",")
			}
		}
		for part := range strings.SplitSeq(first, "|") {
			if fields := strings.Fields(part); len(fields) > 0 {
				r.Rules = append(r.Rules, ruleOf(t, fields, &r))
			}
		}
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			fields := strings.Fields(line)
			target := admission.Target{Operation: admissionregistrationv1.OperationType(fields[0])}
			target.Resource, target.Subresource = resourceOf(fields[1])
			var also []schema.GroupVersionResource
			for _, f := range fields[2:] {
				key, value, _ := strings.Cut(f, "=")
				if key == "in" {
					target.Namespace = value
					continue
				}
				for _, s := range list[string](value) {
					other, _ := resourceOf(s)
					also = append(also, other)
				}
			}
			got, ok := r.Match(target, also)
			if !ok {
				out.WriteString("no\n")
				continue
			}
			shown := fmt.Sprintf("%s/%s/%s", got.Group, got.Version, got.Resource)
			if target.Subresource != "" {
				shown += "/" + target.Subresource
			}
			out.WriteString(shown + "\n")
		}
		return out.String()
	})
}

// TestSelectors: L-37 and L-40.
func TestSelectors(t *testing.T) {
	selected, err := labels.Parse("a=b")
	if err != nil {
		t.Fatal(err)
	}
	pods, namespaces := schema.GroupVersionResource{Version: "v1", Resource: "pods"},
		schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	yes, no := labels.Set{"a": "b"}, labels.Set{"a": "c"}
	missing := errors.New("not found")
	for _, c := range []struct {
		name        string
		target      admission.Target
		selector    labels.Selector
		own, stored labels.Set
		err         error
		want        bool
	}{
		{"everything", admission.Target{Resource: pods, Namespace: "n"}, labels.Everything(), nil, nil, missing, true},
		{
			"cluster-scoped", admission.Target{Resource: schema.GroupVersionResource{Resource: "nodes"}}, selected, nil, no, nil,
			true,
		},
		{"namespaced", admission.Target{Resource: pods, Namespace: "n"}, selected, nil, yes, nil, true},
		{"another", admission.Target{Resource: pods, Namespace: "n"}, selected, nil, no, nil, false},
		{"missing", admission.Target{Resource: pods, Namespace: "n"}, selected, nil, nil, missing, false},
		{
			"created", admission.Target{Resource: namespaces, Namespace: "n", Operation: "CREATE"}, selected, yes, no, nil, true,
		},
		{
			"updated", admission.Target{Resource: namespaces, Namespace: "n", Operation: "UPDATE"}, selected, no, yes, nil,
			false,
		},
		{
			"deleted", admission.Target{Resource: namespaces, Namespace: "n", Operation: "DELETE"}, selected, no, yes, nil, true,
		},
		{
			"finalized", admission.Target{Resource: namespaces, Subresource: "finalize", Namespace: "n", Operation: "UPDATE"},
			selected, no, yes, nil, true,
		},
	} {
		got, err := c.target.InNamespace(c.selector, c.own, func() (labels.Set, error) { return c.stored, c.err })
		if got != c.want || c.name == "missing" && !errors.Is(err, missing) || c.name != "missing" && err != nil {
			t.Errorf("%s: %t, %v", c.name, got, err)
		}
	}
	for _, c := range []struct {
		object, old *labels.Set
		want        bool
	}{{&yes, nil, true}, {&no, nil, false}, {&no, &yes, true}, {nil, &yes, true}, {nil, nil, false}} {
		if got := admission.Selects(selected, c.object, c.old); got != c.want {
			t.Errorf("%v %v: %t", c.object, c.old, got)
		}
		if !admission.Selects(labels.Everything(), c.object, c.old) {
			t.Errorf("everything does not select %v %v", c.object, c.old)
		}
	}
}

// TestExempt: webhooks are not asked about what configures them (L-23), but about everything else of the group.
func TestExempt(t *testing.T) {
	for resource, want := range map[string]bool{
		"validatingwebhookconfigurations": true, "mutatingadmissionpolicybindings": true, "others": false,
	} {
		for _, version := range []string{"v1", "v1beta1"} {
			r := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: version, Resource: resource}
			if admission.Exempt(r) != want {
				t.Errorf("%v: %t", r, !want)
			}
			if r.Group = "example.com"; admission.Exempt(r) {
				t.Errorf("%v is exempt", r)
			}
		}
	}
}
