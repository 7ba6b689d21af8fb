package dynamic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/resources"
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
func ruleOf(t *testing.T, fields []string, equivalent *bool) (
	rule admissionv1.NamedRuleWithOperations) {
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "ops":
			rule.Operations = list[admissionv1.OperationType](value)
		case "groups":
			rule.APIGroups = list[string](value)
		case "versions":
			rule.APIVersions = list[string](value)
		case "resources":
			rule.Resources = list[string](value)
		case "scope":
			scope := admissionv1.ScopeType(value)
			rule.Scope = &scope
		case "policy":
			*equivalent = value == "Equivalent"
		default:
			t.Fatalf("unknown field %q", f)
		}
	}
	return rule
}

func entryOf(s string) (r *resources.Resource, sub string) {
	parts := append(strings.Split(s, "/"), "")
	return &resources.Resource{Served: resources.Served{Group: parts[0], Version: parts[1]}, Plural: parts[2]}, parts[3]
}

// TestRulesMatchRequests runs testdata/rules.txt.
func TestRulesMatchRequests(t *testing.T) {
	datadriven.RunTest(t, "testdata/rules.txt", func(t *testing.T, d *datadriven.TestData) string {
		// The first line is a command of the library. Its arguments are parsed here, because they contain commas.
		var rules []admissionv1.NamedRuleWithOperations
		equivalent := false
		first := ""
		for _, a := range d.CmdArgs {
			first += " " + a.Key
			if len(a.Vals) > 0 {
				first += "=" + strings.Join(a.Vals, ",")
			}
		}
		for part := range strings.SplitSeq(first, "|") {
			if fields := strings.Fields(part); len(fields) > 0 {
				rules = append(rules, ruleOf(t, fields, &equivalent))
			}
		}
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			fields := strings.Fields(line)
			of := &target{Target: webhook.Target{Operation: admissionv1.OperationType(fields[0])}}
			of.own, of.Subresource = entryOf(fields[1])
			of.Resource = resourceOf(of.own)
			for _, f := range fields[2:] {
				key, value, _ := strings.Cut(f, "=")
				if key == "in" {
					of.Namespace = value
					continue
				}
				for _, s := range list[string](value) {
					other, _ := entryOf(s)
					of.equivalents = append(of.equivalents, other)
				}
			}
			got := of.matched(rules, equivalent)
			if len(got) == 0 {
				out.WriteString("no\n")
				continue
			}
			shown := fmt.Sprintf("%s/%s/%s", got[0].in.Group, got[0].in.Version, got[0].in.Plural)
			if of.Subresource != "" {
				shown += "/" + of.Subresource
			}
			out.WriteString(shown + "\n")
		}
		return out.String()
	})
}
