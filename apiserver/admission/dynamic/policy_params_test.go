package dynamic_test

import (
	"fmt"
	"strings"
	"testing"
)

// newWidgets are custom resources of two versions; those of v2 are in the path given, of namespace default.
const (
	newWidgets = "/apis/x.io/v2/namespaces/default/widgets"
	oldWidgets = "/apis/x.io/v1/namespaces/default/widgets"
)

// defineKind creates a CustomResourceDefinition with the versions v1, which is stored, and v2, whose field size has a
// default.
func (c *cluster) defineKind(plural, kind, scope string) {
	c.t.Helper()
	version := func(name string, storage bool, size string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object","properties":`+
			`{"spec":{"type":"object","properties":{"size":{"type":"integer"%s},"color":{"type":"string"},`+
			`"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],`+
			`"items":{"type":"object",`+
			`"required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},`+
			`"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}`, name, storage, size)
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	c.want(201, "POST", definitions, fmt.Sprintf(
		`{"metadata":{"name":"%s.x.io"},"spec":{"group":"x.io","scope":%q,"names":{"plural":%q,"kind":%q},`+
			`"versions":[%s,%s]}}`,
		plural, scope, plural, kind, version("v1", true, ""), version("v2", false, `,"default":3`),
	))
	c.want(200, "PATCH", definitions+"/"+plural+".x.io/status",
		fmt.Sprintf(`{"status":{"acceptedNames":{"plural":%q,"kind":%q},`+
			`"storedVersions":["v1"],"conditions":[{"type":"NamesAccepted","status":"True"},`+
			`{"type":"Established","status":"True"}]}}`,
			plural, kind))
}

// TestParams: which params a binding names, and what is denied without them (M-S04).
func TestParams(t *testing.T) {
	c := start(t)
	c.defineKind("limits", "Limit", "Cluster")
	c.want(201, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
	object := func(path, name, max string) {
		c.want(201, "POST", path, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"max":"yes"}},"data":{"max":%q}}`, name, max))
	}
	object(maps, "a", "9")
	object(maps, "b", "3")
	object("/api/v1/namespaces/other/configmaps", "a", "1")
	c.want(
		201, "POST", "/apis/x.io/v1/limits",
		`{"apiVersion":"x.io/v1","kind":"Limit","metadata":{"name":"l"},"spec":{"size":4}}`,
	)
	const (
		kind     = `"paramKind":{"apiVersion":"v1","kind":"ConfigMap"},`
		limit    = `"paramKind":{"apiVersion":"x.io/v2","kind":"Limit"},`
		deny     = `,"parameterNotFoundAction":"Deny"}`
		allow    = `,"parameterNotFoundAction":"Allow"}`
		none     = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
		replicas = "object.spec.replicas <= int(params.data.max)"
	)
	for _, test := range []struct {
		name, kind, expression, ref string
		// message is that of the denial of five replicas; empty if they are allowed.
		message string
	}{
		{"own namespace", kind, replicas, `"paramRef":{"name":"a"` + deny, ""},
		{"own namespace, too many", kind, replicas, `"paramRef":{"name":"b"` + deny, "failed expression: " + replicas},
		{
			"other namespace", kind, replicas, `"paramRef":{"name":"a","namespace":"other"` + deny,
			"failed expression: " + replicas,
		},
		{
			"one of two", kind, replicas, `"paramRef":{"selector":{"matchLabels":{"max":"yes"}}` + deny,
			"failed expression: " + replicas,
		},
		{"all", kind, "params.kind == 'ConfigMap' && params.apiVersion == 'v1'", `"paramRef":{"selector":{}` + deny, ""},
		{"in the order of names", kind, "params.metadata.name > 'a'", `"paramRef":{"selector":{}` + deny,
			"failed expression: params.metadata.name > 'a'"},
		{"missing and denied", kind, replicas, `"paramRef":{"name":"x"` + deny, none},
		{"missing and allowed", kind, "false", `"paramRef":{"name":"x"` + allow, ""},
		{"none selected", kind, "false", `"paramRef":{"selector":{"matchLabels":{"max":"no"}}` + deny, none},
		{"no paramRef", kind, "params != null", "", "failed expression: params != null"},
		{"missing and ignored", `"failurePolicy":"Ignore",` + kind, replicas, `"paramRef":{"name":"x"` + deny, ""},
		{"custom", limit, "params.apiVersion == 'x.io/v2' && object.spec.replicas <= params.spec.size",
			`"paramRef":{"name":"l"` + deny,
			"failed expression: params.apiVersion == 'x.io/v2' && object.spec.replicas <= params.spec.size"},
		{"namespace of a cluster-scoped kind", limit, "true", `"paramRef":{"name":"l","namespace":"other"` + deny,
			"failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
		{"no paramKind", "", "false", `"paramRef":{"name":"x"` + deny, "failed expression: false"},
	} {
		c.policy("Validating", "p", rule("CREATE", "apps", "v1", "deployments"), test.kind+valid(test.expression))
		var ref []string
		if test.ref != "" {
			ref = append(ref, test.ref)
		}
		c.bind("Validating", "p", ref...)
		a := c.Do("POST", deployments+"?dryRun=All", deployment("five", 5))
		switch {
		case test.message == "" && a.Code != 201, test.message != "" && a.Code != 422:
			t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
		case test.message != "":
			c.said(a, "p", test.message)
		}
		c.remove("Validating", "p")
	}
}

// TestParamErrors: a request without a namespace has no namespaced params, and a policy whose paramKind is not served
// can't be configured, until it is.
func TestParamErrors(t *testing.T) {
	c := start(t)
	const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All"
	c.policy("Validating", "p", rule("CREATE", "rbac.authorization.k8s.io", "v1", "clusterroles"),
		`"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`, valid("true"))
	c.bind("Validating", "p", `"paramRef":{"selector":{},"parameterNotFoundAction":"Allow"}`)
	c.said(c.want(422, "POST", roles, `{"metadata":{"name":"r"}}`), "p", "failed to configure binding: "+
		"cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	c.remove("Validating", "p")

	c.policy("Validating", "q", rule("CREATE", "", "v1", "configmaps"),
		`"paramKind":{"apiVersion":"x.io/v1","kind":"Limit"}`, valid("params == null"))
	c.bind("Validating", "q")
	st := c.want(422, "POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`).Status()
	if want := `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'q' denied request: failed to configure policy: ` +
		`failed to find resource referenced by paramKind: 'x.io/v1, Kind=Limit'`; st.Message != want {
		t.Errorf("got %s\nwant %s", st.Message, want)
	}
	c.defineKind("limits", "Limit", "Cluster")
	c.want(201, "POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`)
}

// TestAbsentNamespaceIsAnError: an object in a namespace that does not exist can't be removed by a request that
// policies match, independent of their failure policy (M-37); a selector that can't be matched is an error of the
// configuration (M-19).
func TestAbsentNamespaceIsAnError(t *testing.T) {
	c := start(t)
	const ghost = "/api/v1/namespaces/ghost/configmaps/m"
	c.Put(
		t, "/registry/configmaps/ghost/m",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","namespace":"ghost","uid":"u"}}`,
	)
	rules := rule("DELETE", "", "v1", "configmaps")
	c.policy("Validating", "p", rules, `"failurePolicy":"Ignore"`, valid("true"))
	c.bind("Validating", "p")
	if st := c.want(404, "DELETE", ghost, nil).Status(); st.Message != `namespaces "ghost" not found` {
		t.Errorf("%+v", st)
	}
	c.remove("Validating", "p")
	c.want(201, "POST", hookConfigs+"validatingadmissionpolicies", policyOf("Validating", "p",
		`{"resourceRules":[`+rules+`],"namespaceSelector":{"matchLabels":{"a":"b"}}}`, valid("true")))
	c.bind("Validating", "p")
	if st := c.want(422, "DELETE", ghost, nil).Status(); !strings.HasSuffix(st.Message,
		`ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: namespaces "ghost" not found`) {
		t.Errorf("%+v", st)
	}
	c.remove("Validating", "p")
	c.want(200, "DELETE", ghost, nil)
}
