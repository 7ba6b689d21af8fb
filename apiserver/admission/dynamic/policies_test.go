package dynamic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const (
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	mergePatch  = "application/merge-patch+json"
)

// policy creates a policy, Validating or Mutating, for the rules. spec are its other fields, as JSON.
func (c *cluster) policy(kind, name, rules string, spec ...string) {
	c.t.Helper()
	c.want(http.StatusCreated, "POST", hookConfigs+strings.ToLower(kind)+"admissionpolicies", policyOf(
		kind, name, `{"resourceRules":[`+rules+`]}`, spec...,
	))
}

func policyOf(kind, name, constraints string, spec ...string) string {
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sAdmissionPolicy",`+
		`"metadata":{"name":%q},`+
		`"spec":{"matchConstraints":%s%s}}`, kind, name, constraints, strings.Join(append([]string{""}, spec...), ","))
}

// bind creates a binding of the policy of the same name. spec are its other fields, as JSON.
func (c *cluster) bind(kind, policy string, spec ...string) {
	c.t.Helper()
	c.want(http.StatusCreated, "POST", hookConfigs+strings.ToLower(kind)+"admissionpolicybindings", bindingOf(
		kind, policy, policy, spec...,
	))
}

func bindingOf(kind, name, policy string, spec ...string) string {
	if kind == "Validating" && !strings.Contains(strings.Join(spec, ","), "validationActions") {
		spec = append(spec, `"validationActions":["Deny"]`)
	}
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sAdmissionPolicyBinding",`+
		`"metadata":{"name":%q},"spec":{"policyName":%q%s}}`, kind, name, policy,
		strings.Join(append([]string{""}, spec...), ","))
}

// valid are validations of expressions, as JSON.
func valid(expressions ...string) string {
	var list []map[string]string
	for _, e := range expressions {
		list = append(list, map[string]string{"expression": e})
	}
	return `"validations":` + encode(list)
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// said fails the test if the answer has not the message, after the words of a denial by the policy and binding.
func (c *cluster) said(a apiservertest.Answer, policy, message string) metav1.Status {
	c.t.Helper()
	st := a.Status()
	want := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", policy, policy, message)
	if !strings.HasSuffix(st.Message, "is forbidden: "+want) {
		c.t.Errorf("got  %s\nwant %s", st.Message, want)
	}
	if st.Details == nil || len(st.Details.Causes) != 1 || st.Details.Causes[0].Message != want {
		c.t.Errorf("details %+v", st.Details)
	}
	return st
}

func deployment(name string, replicas int) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d,"selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, name, replicas)
}

// TestPolicyDeniesReplicas: in creates, updates, patches and scaling, until its binding is removed (M-S01).
func TestPolicyDeniesReplicas(t *testing.T) {
	c := start(t)
	c.want(201, "POST", deployments, deployment("d", 1))
	c.policy("Validating", "p", rule("CREATE UPDATE", "apps", "v1", "deployments deployments/scale"),
		valid("object.spec.replicas <= 5"))
	c.want(201, "POST", deployments+"?dryRun=All", deployment("six", 6)) // without a binding
	c.bind("Validating", "p")
	a := c.want(422, "POST", deployments, deployment("six", 6))
	st := c.said(a, "p", "failed expression: object.spec.replicas <= 5")
	if st.Reason != "Invalid" || st.Details.Name != "six" || st.Details.Group != "apps" ||
		st.Details.Kind != "deployments" ||
		st.Message[:len(`deployments.apps "six" is forbidden`)] != `deployments.apps "six" is forbidden` {
		t.Errorf("%+v", st)
	}
	c.want(404, "GET", deployments+"/six", nil)
	c.want(422, "PUT", deployments+"/d", deployment("d", 6))
	for _, sub := range []string{"", "/scale"} {
		c.want(422, "PATCH", deployments+"/d"+sub, `{"spec":{"replicas":6}}`)
		c.want(200, "PATCH", deployments+"/d"+sub, `{"spec":{"replicas":5}}`)
	}
	c.want(200, "DELETE", hookConfigs+"validatingadmissionpolicybindings/p", nil)
	c.want(201, "POST", deployments, deployment("six", 6))
}

// remove removes the policy and the binding of a name.
func (c *cluster) remove(kind, name string) {
	c.t.Helper()
	for _, plural := range []string{"admissionpolicies/", "admissionpolicybindings/"} {
		c.want(http.StatusOK, "DELETE", hookConfigs+strings.ToLower(kind)+plural+name, nil)
	}
}

// expensive is an expression of the value true, which costs a bit less than one expression may.
func expensive() string {
	const n = 9500
	return fmt.Sprintf("!%q.contains(%q)", strings.Repeat("x", n), strings.Repeat("x", n-1)+"y")
}

// TestDenialsHaveMessagesReasonsAndCodes: for validations that are false, that fail and that cost too much (M-S02,
// M-S07, M-S13, M-S14).
func TestDenialsHaveMessagesReasonsAndCodes(t *testing.T) {
	c := start(t)
	costly, twelve := expensive()+" && "+expensive(), make([]string, 12)
	for i := range twelve {
		twelve[i] = expensive()
	}
	for _, test := range []struct {
		name, spec string
		code       int
		reason     metav1.StatusReason
		message    string
	}{
		{
			"expression", valid(" object.metadata.name == 'x' "), 422, "Invalid",
			"failed expression: object.metadata.name == 'x'",
		},
		{"message", `"validations":[{"expression":"false","message":"no"}]`, 422, "Invalid", "no"},
		{"messageExpression",
			`"validations":[{"expression":"false","message":"no","messageExpression":"' not ' + object.metadata.name"}]`,
			422, "Invalid", "not m"},
		{"failing messageExpression",
			`"validations":[{"expression":"false","message":"no","messageExpression":"string(object.foo)"}]`,
			422, "Invalid", "no"},
		{"newline", `"validations":[{"expression":"false","messageExpression":"'a\\nb'"}]`, 422, "Invalid",
			"failed expression: false"},
		{"forbidden", `"validations":[{"expression":"false","message":"no","reason":"Forbidden"}]`, 403, "Forbidden", "no"},
		{"too large", `"validations":[{"expression":"false","message":"no","reason":"RequestEntityTooLarge"}]`,
			413, "RequestEntityTooLarge", "no"},
		{"first",
			`"validations":[{"expression":"true"},{"expression":"false","message":"1"},{"expression":"false","message":"2"}]`,
			422, "Invalid", "1"},
		{"error", valid("object.foo == 1"), 422, "Invalid",
			"expression 'object.foo == 1' resulted in error: no such key: foo"},
		{"ignored error", `"failurePolicy":"Ignore",` + valid("object.foo == 1"), 201, "", ""},
		{"false is not ignored", `"failurePolicy":"Ignore",` + valid("object.foo == 1", "1 == 2"), 422, "Invalid",
			"failed expression: 1 == 2"},
		{"variables",
			`"variables":[{"name":"a","expression":"object.metadata.name"},{"name":"b","expression":"variables.a + 'x'"},` +
				`{"name":"unused","expression":"object.foo"}],` + valid("variables.b == 'mx'", "variables.b == 'm'"),
			422, "Invalid", "failed expression: variables.b == 'm'"},
		{"failing variable", `"variables":[{"name":"a","expression":"object.foo"}],` + valid("variables.a == 1"), 422,
			"Invalid",
			`expression 'variables.a == 1' resulted in error: composited variable "a" fails to evaluate: no such key: foo`},
		{"namespace", valid("namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'",
			"namespaceObject.metadata.name == 'x'"), 422, "Invalid", "failed expression: namespaceObject.metadata.name == 'x'"},
		{"request", valid("request.resource.resource == 'configmaps' && request.operation == 'CREATE' && request.dryRun && "+
			"request.namespace == 'default' && request.name == 'm' && oldObject == null", "request.kind.kind == ''"),
			422, "Invalid", "failed expression: request.kind.kind == ''"},
		{
			"condition", `"matchConditions":[{"name":"c","expression":"object.metadata.name != 'm'"}],` + valid("false"), 201,
			"", "",
		},
		{"failing condition", `"matchConditions":[{"name":"c","expression":"object.foo == 1"}],` + valid("true"), 422,
			"Invalid",
			"expression 'object.foo == 1' resulted in error: no such key: foo"},
		{"costly", valid(costly), 422, "Invalid",
			"expression '" + costly + "' resulted in error: operation cancelled: actual cost limit exceeded"},
		{"costly together", valid(twelve...), 422, "Invalid",
			"validation failed due to running out of cost budget, no further validation rules will be run"},
		{"costly and ignored", `"failurePolicy":"Ignore",` + valid(costly), 201, "", ""},
	} {
		c.policy("Validating", "p", rule("CREATE", "", "v1", "configmaps"), test.spec)
		c.bind("Validating", "p")
		a := c.Do("POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`)
		if a.Code != test.code {
			t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
		} else if test.code != 201 {
			if st := c.said(a, "p", test.message); st.Reason != test.reason || int(st.Code) != test.code {
				t.Errorf("%s: %+v", test.name, st)
			}
		}
		c.remove("Validating", "p")
	}
}

// TestStoredPolicyWithAnErrorDenies: its expressions do not compile. It denies unless it ignores errors (M-71).
func TestStoredPolicyWithAnErrorDenies(t *testing.T) {
	c := start(t)
	for i, failure := range []string{"Fail", "Ignore"} {
		obj := policyOf("Validating", "p", `{"resourceRules":[`+rule("CREATE", "", "v1", "configmaps")+`]}`,
			`"failurePolicy":"`+failure+`"`, valid("foo == 1"))
		c.Put(t, "/registry/validatingadmissionpolicies/p", obj)
		if i == 0 {
			c.bind("Validating", "p")
			c.said(c.want(422, "POST", maps, `{"metadata":{"name":"m"}}`), "p", "compilation error: compilation failed: "+
				"ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo == 1\n | ^")
			continue
		}
		c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
	}
}

// TestAtOnce: a policy, a binding and a param are in force for exactly the requests between their creation and their
// removal, in all servers of a store (M-S15).
func TestAtOnce(t *testing.T) {
	c := start(t)
	other := &cluster{Server: apiservertest.Start(t, &apiservertest.Options{Store: c.Store}), t: t}
	const object, params = `{"metadata":{"name":"m"}}`, "/api/v1/namespaces/default/secrets"
	rules := rule("CREATE", "", "v1", "configmaps")
	create := func(denied bool) {
		t.Helper()
		code := 201
		if denied {
			code = 422
		}
		other.want(code, "POST", maps+"?dryRun=All", object)
		c.want(code, "POST", maps+"?dryRun=All", object)
	}
	for range 10 {
		c.policy("Validating", "p", rules, `"paramKind":{"apiVersion":"v1","kind":"Secret"}`, valid("has(params.data.ok)"))
		create(false)
		c.bind("Validating", "p", `"paramRef":{"name":"s","parameterNotFoundAction":"Allow"}`)
		create(false)
		c.want(201, "POST", params, `{"metadata":{"name":"s"},"data":{"no":""}}`)
		create(true)
		c.want(200, "PATCH", params+"/s", `{"data":{"ok":""}}`)
		create(false)
		c.want(200, "PATCH", params+"/s", `{"data":{"ok":null}}`)
		create(true)
		c.want(200, "DELETE", params+"/s", nil)
		create(false)
		c.want(200, "PATCH", hookConfigs+"validatingadmissionpolicybindings/p",
			`{"spec":{"paramRef":{"parameterNotFoundAction":"Deny"}}}`)
		create(true)
		c.remove("Validating", "p")
		create(false)
	}
}
