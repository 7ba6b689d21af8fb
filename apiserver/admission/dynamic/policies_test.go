package dynamic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// policy creates a policy of the kind Validating or Mutating with the rules. spec has its other fields as JSON.
func (c *cluster) policy(kind, name, rules string, spec ...string) {
	c.t.Helper()
	c.want(http.StatusCreated, "POST", hookConfigs+strings.ToLower(kind)+"admissionpolicies", policyOf(
		kind, name, `{"resourceRules":[`+rules+`]}`, spec...))
}

func policyOf(kind, name, constraints string, spec ...string) string {
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sAdmissionPolicy",`+
		`"metadata":{"name":%q},`+
		`"spec":{"matchConstraints":%s%s}}`, kind, name, constraints, strings.Join(append([]string{""}, spec...), ","))
}

// bind creates a binding of the policy with the same name. spec has its other fields as JSON.
func (c *cluster) bind(kind, policy string, spec ...string) {
	c.t.Helper()
	c.want(http.StatusCreated, "POST", hookConfigs+strings.ToLower(kind)+"admissionpolicybindings", bindingOf(
		kind, policy, policy, spec...))
}

func bindingOf(kind, name, policy string, spec ...string) string {
	if kind == "Validating" && !strings.Contains(strings.Join(spec, ","), "validationActions") {
		spec = append(spec, `"validationActions":["Deny"]`)
	}
	return fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"%sAdmissionPolicyBinding",`+
		`"metadata":{"name":%q},"spec":{"policyName":%q%s}}`, kind, name, policy,
		strings.Join(append([]string{""}, spec...), ","))
}

// valid returns validations with the expressions, as JSON.
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

// remove removes the policy and the binding of a name.
func (c *cluster) remove(kind, name string) {
	c.t.Helper()
	for _, plural := range []string{"admissionpolicies/", "admissionpolicybindings/"} {
		c.want(http.StatusOK, "DELETE", hookConfigs+strings.ToLower(kind)+plural+name, nil)
	}
}

// TestPoliciesApplyAtOnceOnAllServers: a policy, a binding and a param apply to exactly the requests between their
// creation and their removal, on all servers with the same store (M-S15).
func TestPoliciesApplyAtOnceOnAllServers(t *testing.T) {
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
