package dynamic_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// lines are the events of an audit log.
type lines chan auditv1.Event

// Write implements io.Writer.
func (l lines) Write(data []byte) (int, error) {
	var e auditv1.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return 0, err
	}
	l <- e
	return len(data), nil
}

// audited starts a server that records writes of config maps.
func audited(t *testing.T, metrics *prometheus.Registry) (*cluster, lines) {
	t.Helper()
	p, err := policy.LoadPolicyFromBytes([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\n" +
		"omitStages: [RequestReceived]\n" +
		"rules: [{level: Metadata, verbs: [create], resources: [{resources: [configmaps]}]}, {level: None}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	o, out := audit.Defaults(), make(lines, 10)
	log, err := o.Log(p, out)
	if err != nil {
		t.Fatal(err)
	}
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Audit = log
		if metrics != nil {
			c.Registry = metrics
		}
	}})
	return &cluster{Server: s, t: t, hook: webhooktest.Start(t)}, out
}

// TestActionsReachResponseAuditAndMetrics: the actions of a binding have their effects on the response, the audit log
// and the metrics (M-S03, M-40, M-46, M-47, M-72).
func TestActionsReachResponseAuditAndMetrics(t *testing.T) {
	metrics := prometheus.NewRegistry()
	c, log := audited(t, metrics)
	const (
		failure = "validation.policy.admission.k8s.io/validation_failure"
		no      = `"validations":[{"expression":"true"},{"expression":"false","message":"no"}]`
		broken  = `"auditAnnotations":[{"key":"k","valueExpression":"string(object.foo)"}]`
	)
	recorded := func(message, actions string, index int) string {
		return fmt.Sprintf(`[{"message":%q,"policy":"p","binding":"p","expressionIndex":%d,"validationActions":[%s]}]`,
			message, index, actions)
	}
	for _, test := range []struct {
		name, spec, actions string
		code                int
		warning             string
		annotations         map[string]string
		counted             []string
	}{
		{"Deny", no, `"Deny"`, 422, "", nil, []string{"invalid_error deny"}},
		{"Warn", no, `"Warn"`, 201, "no", nil, []string{"invalid_error warn"}},
		{
			"Audit", no, `"Audit"`, 201, "", map[string]string{failure: recorded("no", `"Audit"`, 1)},
			[]string{"invalid_error audit"},
		},
		{"Deny and Audit", no, `"Deny","Audit"`, 422, "", map[string]string{failure: recorded("no", `"Deny","Audit"`, 1)},
			[]string{"invalid_error audit", "invalid_error deny"}},
		{"all failures", valid("false", "1 == 2"), `"Audit"`, 201, "", map[string]string{failure: strings.Replace(
			recorded("failed expression: false", `"Audit"`, 0)+recorded("failed expression: 1 == 2", `"Audit"`, 1), "][", ",", 1,
		)}, []string{"invalid_error audit"}}, // V-108
		{"many failures", valid(slices.Repeat([]string{"false"}, 51)...), `"Audit"`, 201, "", map[string]string{
			failure: repeated(recorded, 50),
		}, []string{"invalid_error audit"}},
		{"error", valid("object.foo == 1"), `"Warn"`, 201, "expression 'object.foo == 1' resulted in error: no such key: foo",
			nil, []string{"invalid_error warn"}},
		{"ignored error", `"failurePolicy":"Ignore",` + valid("object.foo == 1"), `"Deny"`, 201, "", nil,
			[]string{"invalid_error allow"}},
		{"annotations", `"auditAnnotations":[{"key":"k","valueExpression":"' v ' + object.metadata.name"},` +
			`{"key":"n","valueExpression":"null"},{"key":"e","valueExpression":"''"}]`, `"Deny"`, 201, "",
			map[string]string{"p/k": "v m"}, nil},
		{"annotations of a denied request", `"auditAnnotations":[{"key":"k","valueExpression":"'v'"}],` + valid("false"),
			`"Deny"`,
			422, "", map[string]string{"p/k": "v"}, []string{"invalid_error deny"}},
		{"failing annotation", broken, `"Warn"`, 422, "", nil, []string{"invalid_error deny"}},
		{"ignored failing annotation", `"failurePolicy":"Ignore",` + broken, `"Warn"`, 201, "", nil, nil},
		{"configuration error", `"paramKind":{"apiVersion":"v1","kind":"Foo"},` + valid("true"), `"Warn"`, 422, "", nil, nil},
	} {
		c.policy("Validating", "p", rule("CREATE", "", "v1", "configmaps"), test.spec)
		c.bind("Validating", "p", `"validationActions":[`+test.actions+`]`)
		a := c.Do("POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`)
		if a.Code != test.code {
			t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
		}
		var warnings []string
		if test.warning != "" {
			warnings = []string{
				`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': ` + test.warning + `"`,
			}
		}
		if d := cmp.Diff(warnings, a.Header.Values("Warning")); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
		got := (<-log).Annotations
		for key := range got {
			if strings.HasPrefix(key, "authorization.k8s.io/") {
				delete(got, key)
			}
		}
		if len(got)+len(test.annotations) > 0 {
			if d := cmp.Diff(test.annotations, got); d != "" {
				t.Errorf("%s: %s", test.name, d)
			}
		}
		if d := cmp.Diff(test.counted, counted(t, metrics, "validating")); d != "" {
			t.Errorf("%s: %s", test.name, d)
		}
		c.remove("Validating", "p")
		c.want(201, "POST", pods+"?dryRun=All", pod("p")) // reads that there are no policies
		if got := counted(t, metrics, "validating"); got != nil {
			t.Errorf("%s: %v is still counted", test.name, got)
		}
	}
}

// repeated is the annotation for n failures.
func repeated(recorded func(message, actions string, index int) string, n int) string {
	var all []string
	for i := range n {
		all = append(all, strings.Trim(recorded("failed expression: false", `"Audit"`, i), "[]"))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// counted returns the labels of the checks of the policy p and the binding p, without these two labels, in alphabetical
// order.
func counted(t *testing.T, metrics *prometheus.Registry, subsystem string) (out []string) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "apiserver_"+subsystem+"_admission_policy_check_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["policy"] == "p" && labels["policy_binding"] == "p" {
				out = append(out, strings.TrimSpace(labels["error_type"]+" "+labels["enforcement_action"]))
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestMutationsAreCounted: each mutation is counted (M-72).
func TestMutationsAreCounted(t *testing.T) {
	metrics := prometheus.NewRegistry()
	c, _ := audited(t, metrics)
	c.policy(
		"Mutating", "p", rule("CREATE", "", "v1", "pods"), mutating("Never", label("a", "b"), "Object{spec: object.foo}"),
	)
	c.bind("Mutating", "p")
	c.want(403, "POST", pods, pod("p"))
	if d := cmp.Diff([]string{"invalid_error", "no_error"}, counted(t, metrics, "mutating")); d != "" {
		t.Error(d)
	}
}

// TestBindingsShareAnAnnotation: different values of several bindings are combined in one annotation (M-47).
func TestBindingsShareAnAnnotation(t *testing.T) {
	c, log := audited(t, nil)
	c.policy("Validating", "p", rule("CREATE", "", "v1", "configmaps"), `"paramKind":{"apiVersion":"v1","kind":"Secret"}`,
		`"auditAnnotations":[{"key":"k","valueExpression":"string(params.type)"}]`)
	for _, kind := range []string{"b", "a", "c"} {
		c.want(201, "POST", "/api/v1/namespaces/default/secrets",
			`{"metadata":{"name":"`+kind+`"},"type":"`+strings.Replace(kind, "c", "b", 1)+`"}`)
		c.want(201, "POST", hookConfigs+"validatingadmissionpolicybindings", bindingOf("Validating", kind, "p",
			`"paramRef":{"name":"`+kind+`","parameterNotFoundAction":"Deny"}`))
	}
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
	if got := (<-log).Annotations["p/k"]; got != "a, b" {
		t.Errorf("%q", got)
	}
}
