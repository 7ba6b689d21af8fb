package dynamic_test

import (
	"testing"
)

// TestPolicyMatch: which requests a policy and its binding match: by rules, names, selectors and equivalent resources
// (M-S05).
func TestPolicyMatch(t *testing.T) {
	c := start(t)
	c.defineKind("widgets", "Widget", "Namespaced")
	c.want(201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"prod","labels":{"env":"prod"}}}`)
	configmaps, v1 := rule("CREATE", "", "v1", "configmaps"), rule("CREATE", "x.io", "v1", "widgets")
	with := func(rules, more string) string { return `{"resourceRules":[` + rules + `]` + more + `}` }
	names := func(r, names string) string { return r[:len(r)-1] + `,"resourceNames":[` + names + `]}` }
	const prod, role = "/api/v1/namespaces/prod/configmaps", "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	for _, test := range []struct {
		name, constraints, binding, path, body string
		denied                                 bool
	}{
		{"rule", with(configmaps, ""), "", maps, `{"metadata":{"name":"m"}}`, true},
		{
			"other resource", with(configmaps, ""), "", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"m"}}`, false,
		},
		{
			"excluded", with(configmaps, `,"excludeResourceRules":[`+configmaps+`]`), "", maps, `{"metadata":{"name":"m"}}`,
			false,
		},
		{"other name excluded", with(configmaps, `,"excludeResourceRules":[`+names(configmaps, `"x"`)+`]`), "",
			maps, `{"metadata":{"name":"m"}}`, true},
		{"name excluded", with(configmaps, `,"excludeResourceRules":[`+names(configmaps, `"m"`)+`]`), "",
			maps, `{"metadata":{"name":"m"}}`, false},
		{"name", with(names(configmaps, `"x","m"`), ""), "", maps, `{"metadata":{"name":"m"}}`, true},
		{"other name", with(names(configmaps, `"x"`), ""), "", maps, `{"metadata":{"name":"m"}}`, false},
		{"name of a later rule", with(names(configmaps, `"x"`)+","+names(configmaps, `"m"`), ""), "",
			maps, `{"metadata":{"name":"m"}}`, true},
		{
			"binding for the name", with(configmaps, ""), with(names(configmaps, `"m"`), ""), maps, `{"metadata":{"name":"m"}}`,
			true,
		},
		{
			"binding for another name", with(configmaps, ""), with(names(configmaps, `"x"`), ""), maps,
			`{"metadata":{"name":"m"}}`, false,
		},
		{"binding excludes", with(configmaps, ""), `{"excludeResourceRules":[` + configmaps + `]}`,
			maps, `{"metadata":{"name":"m"}}`, false},
		{"binding without rules", with(configmaps, ""), `{}`, maps, `{"metadata":{"name":"m"}}`, true},
		{"binding for a namespace", with(configmaps, ""), `{"namespaceSelector":{"matchLabels":{"env":"prod"}}}`,
			prod, `{"metadata":{"name":"m"}}`, true},
		{"binding for another namespace", with(configmaps, ""), `{"namespaceSelector":{"matchLabels":{"env":"prod"}}}`,
			maps, `{"metadata":{"name":"m"}}`, false},
		{"objects", with(configmaps, `,"objectSelector":{"matchLabels":{"a":"b"}}`), "", maps,
			`{"metadata":{"name":"m","labels":{"a":"b"}}}`, true},
		{
			"other objects", with(configmaps, `,"objectSelector":{"matchLabels":{"a":"b"}}`), "", maps,
			`{"metadata":{"name":"m"}}`, false,
		},
		{"cluster-scoped", with(rule("CREATE", "rbac.authorization.k8s.io", "v1", "clusterroles"),
			`,"namespaceSelector":{"matchLabels":{"a":"b"}}`), "", role, `{"metadata":{"name":"m"}}`, true},
		{"equivalent", with(v1, ""), "", newWidgets, `{"metadata":{"name":"m"}}`, true},
		{"not equivalent", with(v1, `,"matchPolicy":"Exact"`), "", newWidgets, `{"metadata":{"name":"m"}}`, false},
		{"equivalent excluded", with(rule("CREATE", "x.io", "v2", "widgets"), `,"excludeResourceRules":[`+v1+`]`), "",
			newWidgets, `{"metadata":{"name":"m"}}`, false},
	} {
		const p = hookConfigs + "validatingadmissionpolicies"
		c.want(201, "POST", p, policyOf("Validating", "p", test.constraints, valid("false")))
		var spec []string
		if test.binding != "" {
			spec = append(spec, `"matchResources":`+test.binding)
		}
		c.bind("Validating", "p", spec...)
		code := 201
		if test.denied {
			code = 422
		}
		if a := c.Do("POST", test.path+"?dryRun=All", withKind(test.path, test.body)); a.Code != code {
			t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
		}
		c.remove("Validating", "p")
	}
}

// withKind adds the kind to a custom resource.
func withKind(path, body string) string {
	switch path {
	case newWidgets:
		return `{"apiVersion":"x.io/v2","kind":"Widget",` + body[1:]
	case oldWidgets:
		return `{"apiVersion":"x.io/v1","kind":"Widget",` + body[1:]
	}
	return body
}

// TestPolicyGetsTheVersionThatItMatches: its binding may match another version (M-18).
func TestPolicyGetsTheVersionThatItMatches(t *testing.T) {
	c := start(t)
	c.defineKind("widgets", "Widget", "Namespaced")
	c.policy("Validating", "p", rule("CREATE UPDATE DELETE", "x.io", "v1", "widgets"),
		valid("object == null || object.apiVersion == 'x.io/v1'", "oldObject == null || oldObject.apiVersion == 'x.io/v1'",
			"request.kind.version == 'v1' && request.resource.version == 'v1'", "request.requestKind.version == 'v2'",
			"object == null || object.?spec.?size.orValue(0) != 9"))
	c.bind(
		"Validating", "p",
		`"matchResources":{"matchPolicy":"Exact","resourceRules":[`+rule("*", "x.io", "v2", "widgets")+`]}`,
	)
	c.want(201, "POST", newWidgets, withKind(newWidgets, `{"metadata":{"name":"m"}}`))
	c.said(c.want(422, "PATCH", newWidgets+"/m", `{"spec":{"size":9}}`), "p",
		"failed expression: object == null || object.?spec.?size.orValue(0) != 9")
	c.want(200, "PATCH", newWidgets+"/m", `{"spec":{"size":5}}`)
	c.want(200, "DELETE", newWidgets+"/m", nil)
	c.want(201, "POST", oldWidgets+"?dryRun=All", withKind(oldWidgets, `{"metadata":{"name":"m"}}`)) // bound for v2 only
}

// TestPoliciesAndReviewsAreExempt: a policy that denies everything does not deny them (M-S06).
func TestPoliciesAndReviewsAreExempt(t *testing.T) {
	c := start(t)
	c.want(201, "POST", "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"s"}}`)
	c.want(201, "POST", pods, pod("p"))
	c.policy("Validating", "p", rule("*", "*", "*", "*/*"), valid("false"))
	c.bind("Validating", "p")
	for _, kind := range []string{"Validating", "Mutating"} {
		spec := valid("true")
		if kind == "Mutating" {
			spec = mutating("Never", "[JSONPatch{op: 'test', path: '/kind', value: ''}]")
		}
		c.policy(kind, "q", rule("CREATE", "", "v1", "pods"), spec)
		c.bind(kind, "q")
		c.remove(kind, "q")
		c.want(422, "POST", hookConfigs+map[string]string{
			"Validating": "validating", "Mutating": "mutating",
		}[kind]+"webhookconfigurations", c.configuration(kind, "w"))
	}
	c.want(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)
	c.want(201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		`{"apiVersion":"authorization.k8s.io/v1",`+
			`"kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	c.want(422, "POST", pods+"/p/eviction", `{"metadata":{"name":"p"}}`)
	c.want(422, "POST", pods+"/p/binding", `{"metadata":{"name":"p"},"target":{"name":"n"}}`)
	c.want(422, "DELETE", "/api/v1/namespaces/default/serviceaccounts/s", nil)
	c.remove("Validating", "p")
	c.want(200, "DELETE", "/api/v1/namespaces/default/serviceaccounts/s", nil)
}
