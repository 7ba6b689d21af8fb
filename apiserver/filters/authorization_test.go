package filters_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

const (
	rbacPath  = "/apis/rbac.authorization.k8s.io/v1"
	mergeType = "application/merge-patch+json"
	ownPods   = `{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}`
)

// TestEscalation: a user that may write roles and bindings can't grant permissions that it lacks, to others or to
// itself.
func TestEscalation(t *testing.T) {
	s := start(t, nil)
	s.Grant("mallory", "", "writer",
		`[{"verbs":["create","get","list","update","patch"],"apiGroups":["rbac.authorization.k8s.io"],
		"resources":["roles","rolebindings","clusterroles","clusterrolebindings"]},`+ownPods+`,
		{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"resourceNames":["edit"]},
		{"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"resourceNames":["special"]}]`)
	s.Want(
		201, "POST", rbacPath+"/clusterroles",
		`{"metadata":{"name":"strong"},"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`,
	)
	s.Want(
		201, "POST", rbacPath+"/clusterrolebindings",
		`{"metadata":{"name":"strong"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"strong"}}`,
	)
	s.Want(
		201, "POST", rbacPath+"/clusterroles",
		`{"metadata":{"name":"gathers"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"y"}}]},"rules":[]}`,
	)
	for _, name := range []string{"mine", "special"} {
		s.Want(201, "POST", rbacPath+"/namespaces/a/roles", `{"metadata":{"name":"`+name+`"},"rules":[`+ownPods+`]}`)
	}
	s.Settle()
	binding := func(name, kind, role string) string {
		return `{"apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"` + name +
			`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"` + kind + `","name":"` + role + `"},
			"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"mallory"}]}`
	}
	role := func(name, rules string) string { return `{"metadata":{"name":"` + name + `"},"rules":` + rules + `}` }
	secrets := `[{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}]`
	for _, c := range []struct {
		what               string
		code               int
		method, path, body string
	}{
		{"a role of one's own rights", 201, "POST", "/namespaces/a/roles", role("r1", "["+ownPods+"]")},
		{
			"a role of part of them", 201, "POST", "/namespaces/a/roles",
			role("r2", `[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["p"]}]`),
		},
		{"a role of more", 403, "POST", "/namespaces/a/roles", role("r3", secrets)},
		{
			"a role of a star", 403, "POST", "/namespaces/a/roles",
			role("r3", `[{"verbs":["*"],"apiGroups":[""],"resources":["pods"]}]`),
		},
		{
			"a role of a subresource", 403, "POST", "/namespaces/a/roles",
			role("r3", `[{"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]}]`),
		},
		{"a role, as a dry run", 403, "POST", "/namespaces/a/roles?dryRun=All", role("r3", secrets)},
		{"a role by PUT", 403, "PUT", "/namespaces/a/roles/r3", role("r3", secrets)},
		{"more in a role by PUT", 403, "PUT", "/namespaces/a/roles/mine", role("mine", secrets)},
		{"more in a role by PATCH", 403, "PATCH", "/namespaces/a/roles/mine", `{"rules":` + secrets + `}`},
		{"more in a role that may be escalated", 200, "PATCH", "/namespaces/a/roles/special", `{"rules":` + secrets + `}`},
		{"less in a role", 200, "PATCH", "/namespaces/a/roles/mine", `{"rules":[]}`},
		{"a finalizer on a strong role", 200, "PATCH", "/clusterroles/strong", `{"metadata":{"finalizers":["a.b/c"]}}`},
		{
			"a label on a strong role", 403, "PATCH", "/clusterroles/strong",
			`{"metadata":{"labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}}}`,
		},
		{"a role for paths", 403, "POST", "/clusterroles", role("c1", `[{"verbs":["get"],"nonResourceURLs":["/metrics"]}]`)},
		{
			"a role that joins another", 403, "POST", "/clusterroles",
			`{"metadata":{"name":"c1","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},"rules":` + secrets + `}`,
		},
		{
			"a role that gathers", 403, "POST", "/clusterroles",
			`{"metadata":{"name":"c1"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"y"}}]}}`,
		},
		{
			"a role that begins to gather", 403, "PATCH", "/clusterroles/writer",
			`{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"y"}}]}}`,
		},
		{"a role that gathers no more", 403, "PATCH", "/clusterroles/gathers", `{"aggregationRule":null}`},
		{"a binding of a strong role", 403, "POST", "/clusterrolebindings", binding("b", "ClusterRole", "cluster-admin")},
		{"a binding in a namespace", 403, "POST", "/namespaces/a/rolebindings", binding("b", "ClusterRole", "cluster-admin")},
		{"a binding by PUT", 403, "PUT", "/clusterrolebindings/b", binding("b", "ClusterRole", "strong")},
		{
			"oneself in a binding", 403, "PATCH", "/clusterrolebindings/strong",
			`{"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"mallory"}]}`,
		},
		{
			"oneself in a default binding", 403, "PATCH", "/clusterrolebindings/cluster-admin",
			`{"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"mallory"}]}`,
		},
		{"a binding of no role yet", 404, "POST", "/namespaces/a/rolebindings", binding("b", "Role", "later")},
		{
			"a binding of a role that may be bound", 201, "POST", "/namespaces/a/rolebindings",
			binding("b", "ClusterRole", "edit"),
		},
		{"a binding of one's own rights", 201, "POST", "/namespaces/a/rolebindings", binding("c", "Role", "r1")},
		{"deleting", 403, "DELETE", "/clusterroles/strong", ""},
	} {
		a := s.As("mallory", c.method, rbacPath+c.path, c.body)
		if a.Code != c.code {
			t.Errorf("%s: %d %s", c.what, a.Code, a.Body)
		}
		s.Settle()
	}
	a := s.As("mallory", "PATCH", rbacPath+
		"/namespaces/a/roles/mine?fieldManager=m&force=true",
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"mine"},"rules":`+secrets+`}`,
		"Content-Type", "application/apply-patch+yaml")
	if want := `roles.rbac.authorization.k8s.io "mine" is forbidden: user "mallory" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`; a.Code != 403 || a.Status().Message != want {
		t.Errorf("an apply: %d %s", a.Code, a.Status().Message)
	}
	if a := s.As("mallory", "GET", "/api/v1/namespaces/b/secrets", nil); a.Code != 403 {
		t.Errorf("after all that: %d %s", a.Code, a.Body)
	}
}

// TestImpersonation: each part of another identity requires a permission.
func TestImpersonation(t *testing.T) {
	s := start(t, nil)
	s.Grant("alice", "", "as-bob",
		`[{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["bob","system:anonymous"]},
		{"verbs":["impersonate"],"apiGroups":[""],"resources":["groups"],"resourceNames":["g"]},
		{"verbs":["impersonate"],"apiGroups":["authentication.k8s.io"],"resources":["userextras/scopes"],"resourceNames":["s"]}]`)
	s.Grant(
		"mallory", "", "extras",
		`[{"verbs":["impersonate:user-info"],"apiGroups":["authentication.k8s.io"],"resources":["userextras/*"],"resourceNames":["*"]}]`,
	)
	s.Grant("mallory", "", "as-carol",
		`[{"verbs":["impersonate:user-info"],"apiGroups":["authentication.k8s.io"],"resources":["users","groups"],"resourceNames":["carol","g","system:masters"]},
		{"verbs":["impersonate-on:user-info:create"],"apiGroups":["authentication.k8s.io"],"resources":["selfsubjectreviews"]}]`)
	const review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for _, c := range []struct {
		by, who string
		code    int
		header  []string
	}{
		{"alice", "bob", 201, []string{"Impersonate-User", "bob"}},
		{"alice", "bob", 201, []string{"Impersonate-User", "bob", "Impersonate-Group", "g", "Impersonate-Extra-Scopes", "s"}},
		{"alice", "", 403, []string{"Impersonate-User", "system:anonymous"}}, // which may not create a review
		{"alice", "", 403, []string{"Impersonate-User", "admin"}},
		{"alice", "", 403, []string{"Impersonate-User", "bob", "Impersonate-Group", "system:masters"}},
		{"alice", "", 403, []string{"Impersonate-User", "bob", "Impersonate-Group", "g", "Impersonate-Group", "h"}},
		{"alice", "", 403, []string{"Impersonate-User", "bob", "Impersonate-Uid", "1"}},
		{"alice", "", 403, []string{"Impersonate-User", "bob", "Impersonate-Extra-Scopes", "t"}},
		{"alice", "", 403, []string{"Impersonate-User", "bob", "Impersonate-Extra-Other", "s"}},
		{"alice", "", 403, []string{"Impersonate-User", "system:serviceaccount:a:robot"}},
		{"alice", "", 403, []string{"Impersonate-User", "system:node:n"}},
		{"alice", "", 400, []string{"Impersonate-Group", "g"}},
		{"alice", "", 400, []string{"Impersonate-Extra-Scopes", "s"}},
		{"alice", "", 400, []string{"Impersonate-User", "bob", "Impersonate-User", "admin"}},
		{"mallory", "carol", 201, []string{"Impersonate-User", "carol", "Impersonate-Group", "g"}},
		{"mallory", "", 403, []string{"Impersonate-User", "carol", "Impersonate-Group", "system:masters"}},
		{"mallory", "", 403, []string{"Impersonate-User", "carol", "Impersonate-Extra-Scopes", "s"}},
		{"mallory", "carol", 201, []string{
			"Impersonate-User", "carol", "Impersonate-Extra-a.b%2fc", "1", "Impersonate-Extra-a.b%2fc", "2",
			"Impersonate-Extra-A.b%2fd", "1", "Impersonate-Extra-a.b%2fd", "2",
		}},
		{"mallory", "", 403, []string{"Impersonate-User", "bob"}},
		{"admin", "system:serviceaccount:a:robot", 201, []string{"Impersonate-User", "system:serviceaccount:a:robot"}},
	} {
		a := s.As(c.by, "POST", review, `{}`, c.header...)
		if a.Code != c.code || whoami(a) != c.who {
			t.Errorf("%s: %q: %d %s", c.by, c.header, a.Code, a.Body)
		}
	}
	if a := s.As("mallory", "GET", "/api/v1/namespaces", nil, "Impersonate-User", "carol"); a.Code != 403 ||
		!strings.Contains(a.Status().Message, `User "mallory" cannot impersonate-on:user-info:list resource "namespaces"`) {
		t.Errorf("impersonation on another request: %d %s", a.Code, a.Body)
	}
	if a := s.As(
		"alice", "POST", review, `{}`, "Impersonate-Group", "g", "Impersonate-Extra-Scopes", "s",
	); a.Status().Message !=
		`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string{"scopes":[]string{"s"}}} without impersonating a user name` {
		t.Error(a.Status().Message)
	}
	// A user that the verb impersonate allows gets the error of that verb.
	for by, message := range map[string]string{
		"alice":   `User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`,
		"mallory": `User "mallory" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`,
	} {
		if a := s.As(by, "POST", review, `{}`, "Impersonate-User", "nobody"); a.Code != 403 ||
			!strings.Contains(a.Status().Message, message) {
			t.Errorf("%s: %d %s", by, a.Code, a.Status().Message)
		}
	}
	if a := s.Ask("GET", "/api", nil, "Impersonate-User", "admin"); a.Code != 403 {
		t.Errorf("anonymous: %d %s", a.Code, a.Body)
	}
}

// TestForeignNamespace: a user that may read in one namespace reads nothing of another, whatever the media type, the
// selector or the path's form.
func TestForeignNamespace(t *testing.T) {
	s := start(t, nil)
	s.Grant(
		"alice", "a", "reader", `[{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps","secrets"]}]`,
	)
	s.Grant(
		"mallory", "b", "one",
		`[{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["open"]}]`,
	)
	for _, name := range []string{"hidden", "open"} {
		s.Want(
			201, "POST", "/api/v1/namespaces/b/secrets",
			`{"metadata":{"name":"`+name+`","labels":{"l":"v"}},"stringData":{"k":"TOPSECRET"}}`,
		)
	}
	s.Want(201, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"c"}}`)
	s.Settle()
	for _, path := range []string{
		"/api/v1/namespaces/a/configmaps/c", "/api/v1/namespaces/a/secrets", "/api/v1/namespaces/a/configmaps/c/",
	} {
		if a := s.As("alice", "GET", path, nil); a.Code != 200 {
			t.Fatalf("%s: %d %s", path, a.Code, a.Body)
		}
	}
	more := s.Want(200, "GET", "/api/v1/namespaces/b/secrets?limit=1", nil).Object().
		Object["metadata"].(map[string]any)["continue"].(string)
	paths := []string{
		"/api/v1/namespaces/b/secrets/hidden", "/api/v1/namespaces/b/secrets", "/api/v1/secrets",
		"/api/v1/namespaces/b/secrets?watch=1", "/api/v1/secrets?watch=true",
		"/api/v1/watch/namespaces/b/secrets/hidden", "/api/v1/watch/namespaces/b/secrets", "/api/v1/watch/secrets",
		"/api/v1/proxy/namespaces/b/secrets/hidden",
		"/api/v1/secrets?fieldSelector=metadata.namespace=a", "/api/v1/secrets?fieldSelector=metadata.namespace%3Db",
		"/api/v1/secrets?fieldSelector=metadata.name=hidden",
		"/api/v1/secrets?labelSelector=l%3Dv", "/api/v1/namespaces/b/secrets?fieldSelector=metadata.name=hidden&watch=1",
		"/api/v1/namespaces/a/../b/secrets/hidden",
		"/api/v1/namespaces/a/configmaps/..%2f..%2fb%2fsecrets%2fhidden",
		"/api/v1/namespaces/a/configmaps/%2e%2e/%2e%2e/b/secrets/hidden",
		"/api/v1/namespaces/a%2f..%2fb/secrets/hidden", "/api/v1/namespaces/a%2fsecrets/hidden",
		"/api/v1/namespaces/b%2fsecrets%2fhidden", "/api/v1/namespaces//b/secrets/hidden",
		"/api/v1//namespaces/b/secrets/hidden", "//api/v1/namespaces/b/secrets/hidden",
		"/api//v1/namespaces/b/secrets/hidden", "/./api/v1/namespaces/b/secrets/hidden",
		"/api/v1/namespaces/b/secrets/hidden/", "/api/v1/namespaces/b/./secrets/hidden",
		"/healthz/../api/v1/namespaces/b/secrets/hidden", "/api/../api/v1/namespaces/b/secrets/hidden",
		"/apis/../api/v1/namespaces/b/secrets/hidden", "/apis//v1/namespaces/b/secrets/hidden",
		"/api%2fv1/namespaces/b/secrets/hidden", "/%61pi/v1/namespaces/b/secrets/hidden",
		"/api/v1/namespaces/%62/secrets/hidden", "/api/v1/namespaces/a/secrets/b%2fhidden",
		"/api/v1/namespaces/a/secrets/%2e%2e%2fb%2fhidden", "/api/v1/namespaces/a/secrets%2f..%2f..%2fb%2fsecrets/hidden",
		"/api/v1/namespaces/a/secrets/hidden?namespace=b", "/api/v1/namespaces/a/secrets?continue=" + more,
		"/api/v1/namespaces/a/secrets?limit=5&continue=" + more,
		"/API/v1/namespaces/b/secrets/hidden", "/api/v1/namespaces/b/secrets/hidden;x=y",
		"/api/v1/namespaces/b/secrets/hidden%00", "/api/v1/namespaces/b/secrets/hidden?watch=false",
		"/api/v1/namespaces/a/secrets/hidden/../../../b/secrets/hidden",
		"/openapi/v3/..%2f..%2fapi/v1/namespaces/b/secrets/hidden", "/version/../api/v1/namespaces/b/secrets",
		"/api/v1/namespaces/finalize/../b/secrets/hidden", "/api/v1/namespaces/b/status/../secrets/hidden",
		"/debug/controllers/garbage-collector-controller/graph", "/debug/pprof/", "/metrics",
		"/api/v1/namespaces/b", "/api/v1/namespaces",
	}
	forms := []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
		"application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
	for _, path := range paths {
		for _, form := range forms {
			for _, method := range []string{"GET", "HEAD"} {
				a := s.As("alice", method, path, nil, "Accept", form)
				if a.Code == 200 && !strings.Contains(path, "namespaces/a/secrets?") ||
					strings.Contains(string(a.Body), "VE9QU0VDUkVU") || strings.Contains(string(a.Body), "TOPSECRET") ||
					strings.Contains(string(a.Body), `"namespace":"b"`) {
					t.Errorf("%s %s as %s: %d %s", method, path, form, a.Code, a.Body)
				}
			}
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "CONNECTED", "get"} {
		if a := s.As("alice", method, "/api/v1/namespaces/b/secrets/hidden", `{}`); a.Code < 400 {
			t.Errorf("%s: %d %s", method, a.Code, a.Body)
		}
	}
	for path, method := range map[string]string{
		"/api/v1/namespaces/b/finalize": "PUT", "/api/v1/namespaces/b/serviceaccounts/default/token": "POST",
		"/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval":    "PUT",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":               "POST",
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": "POST",
	} {
		if a := s.As("alice", method, path, `{"metadata":{"name":"x"}}`); a.Code != 403 {
			t.Errorf("%s %s: %d %s", method, path, a.Code, a.Body)
		}
	}
	// One name: by name, and by a selector for it alone.
	for path, code := range map[string]int{
		"secrets/open": 200, "secrets/hidden": 403, "secrets": 403, "secrets?fieldSelector=metadata.name%3Dopen": 200,
		"secrets?fieldSelector=metadata.name%3Dhidden":                                    403,
		"secrets?fieldSelector=metadata.name!%3Dopen":                                     403,
		"secrets?fieldSelector=metadata.name%3Dopen,metadata.name%3Dhidden":               403,
		"secrets?fieldSelector=metadata.name%3Dopen&fieldSelector=metadata.name%3Dhidden": 200,
		"secrets?fieldSelector=type%3Dx":                                                  403, "secrets?fieldSelector=": 403,
	} {
		a := s.As("mallory", "GET", "/api/v1/namespaces/b/"+path, nil)
		if a.Code != code && !(code == 403 && a.Code == 200 && len(a.List().Items) == 0) ||
			strings.Contains(string(a.Body), "hidden") && code == 200 {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
}

// TestReviews: reviews have the same result as the authorization of requests.
func TestReviews(t *testing.T) {
	s := start(t, nil)
	s.Grant("alice", "a", "reader", `[{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"]}]`)
	const group = "/apis/authorization.k8s.io/v1/"
	for _, c := range []struct {
		path, spec      string
		code            int
		allowed, reason string
	}{
		{
			"subjectaccessreviews", `"user":"alice","resourceAttributes":{"namespace":"a","verb":"get","resource":"pods"}`, 201,
			"true", `RBAC: allowed by RoleBinding "reader/a" of Role "reader" to User "alice"`,
		},
		{
			"subjectaccessreviews",
			`"user":"alice","resourceAttributes":{"namespace":"a","verb":"get","resource":"pods","subresource":"log"}`, 201,
			"true", `RBAC: allowed by RoleBinding "reader/a" of Role "reader" to User "alice"`,
		},
		{
			"subjectaccessreviews",
			`"user":"alice","resourceAttributes":{"namespace":"a","verb":"get","resource":"pods","subresource":"exec"}`, 201,
			"false", "",
		},
		{"subjectaccessreviews", `"user":"alice","resourceAttributes":{"verb":"get","resource":"pods"}`, 201, "false", ""},
		{
			"subjectaccessreviews", `"groups":["system:masters"],"resourceAttributes":{"verb":"get","resource":"pods"}`, 201,
			"true", "",
		},
		{
			"subjectaccessreviews",
			`"user":"x","groups":["system:authenticated"],"nonResourceAttributes":{"path":"/api/v1","verb":"get"}`, 201, "true",
			`RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"`,
		},
		{"subjectaccessreviews", `"user":"x","nonResourceAttributes":{"path":"/metrics","verb":"get"}`, 201, "false", ""},
		{"subjectaccessreviews", `"resourceAttributes":{"verb":"get"}`, 422, "", ""},
		{"subjectaccessreviews", `"user":"x"`, 422, "", ""},
		{"subjectaccessreviews", `"user":"x","resourceAttributes":{},"nonResourceAttributes":{}`, 422, "", ""},
		{
			"namespaces/a/localsubjectaccessreviews",
			`"user":"alice","resourceAttributes":{"namespace":"a","verb":"get","resource":"pods"}`, 201, "true",
			`RBAC: allowed by RoleBinding "reader/a" of Role "reader" to User "alice"`,
		},
		{
			"namespaces/a/localsubjectaccessreviews",
			`"user":"alice","resourceAttributes":{"namespace":"b","verb":"get","resource":"pods"}`, 422, "", "",
		},
		{"selfsubjectaccessreviews", `"resourceAttributes":{"verb":"delete","resource":"nodes"}`, 201, "true", ""},
	} {
		a := s.Do("POST", group+c.path, `{"spec":{`+c.spec+`}}`)
		status, _ := a.Object().Object["status"].(map[string]any)
		reason, _ := status["reason"].(string)
		allowed := ""
		if a.Code == 201 {
			allowed = fmt.Sprint(status["allowed"])
		}
		if a.Code != c.code || allowed != c.allowed || reason != c.reason {
			t.Errorf("%s %s: %d %s", c.path, c.spec, a.Code, a.Body)
		}
	}
	a := s.As("alice", "POST", group+"selfsubjectrulesreviews", `{"spec":{"namespace":"a"}}`)
	if a.Code != 201 || !strings.Contains(
		string(a.Body), `{"verbs":["get"],"apiGroups":[""],"resources":["pods","pods/log"]}`,
	) || !strings.Contains(
		string(a.Body), `"incomplete":false`,
	) {
		t.Errorf("rules: %d %s", a.Code, a.Body)
	}
	if a := s.As(
		"alice", "POST", group+"subjectaccessreviews",
		`{"spec":{"user":"admin","nonResourceAttributes":{"path":"/","verb":"get"}}}`,
	); a.Code != 403 {
		t.Errorf("a review of another user: %d", a.Code)
	}
}

// TestEnsureRoles: a second start creates missing roles and bindings again, and keeps changes.
func TestEnsureRoles(t *testing.T) {
	s := start(t, nil)
	before := s.Revision()
	ensure := func() {
		t.Helper()
		if err := s.API.EnsureRoles(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	ensure()
	if now := s.Revision(); now != before {
		t.Errorf("a start that has nothing to do wrote %d times", now-before)
	}
	s.Want(200, "DELETE", rbacPath+"/clusterroles/system:basic-user", nil)
	for name, change := range map[string]string{
		"system:discovery":  `{"rules":null}`,
		"system:monitoring": `{"rules":null,"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}}`,
		// An administrator removes permissions of editors.
		"system:aggregate-to-edit": `{"metadata":{"labels":{"rbac.authorization.k8s.io/aggregate-to-edit":"false"}}}`,
	} {
		if a := s.Do("PATCH", rbacPath+"/clusterroles/"+name, change); a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	s.Want(200, "DELETE", rbacPath+"/clusterrolebindings/system:discovery", nil)
	s.Want(
		201, "POST", rbacPath+"/clusterrolebindings",
		`{"metadata":{"name":"system:discovery"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}}`,
	)
	ensure()
	for path, text := range map[string]string{
		"/clusterroles/system:basic-user":        `"selfsubjectreviews"`,
		"/clusterroles/system:discovery":         `"/openapi/*"`,
		"/clusterroles/system:monitoring":        `"rules":null`,
		"/clusterroles/system:aggregate-to-edit": `"rbac.authorization.k8s.io/aggregate-to-edit":"false"`,
		"/clusterrolebindings/system:discovery":  `"name":"system:discovery"}}`,
	} {
		if a := s.Want(200, "GET", rbacPath+path, nil); !strings.Contains(string(a.Body), text) {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
}

// TestRolesNotEnsured: if default roles are rejected or can't be read, the server starts nevertheless and creates the
// others.
func TestRolesNotEnsured(t *testing.T) {
	s := start(t, nil)
	const quotas, hard = "/api/v1/namespaces/kube-public/resourcequotas", `"hard":{"count/roles.rbac.authorization.k8s.io":"0"}`
	s.Want(201, "POST", quotas, `{"metadata":{"name":"q"},"spec":{`+hard+`}}`)
	s.Want(200, "PUT", quotas+"/q/status", `{"metadata":{"name":"q"},"spec":{`+hard+`},"status":{`+hard+
		`,"used":{"count/roles.rbac.authorization.k8s.io":"0"}}}`)
	const rejected, other = rbacPath + "/namespaces/kube-public/roles/system:controller:bootstrap-signer", rbacPath +
		"/clusterroles/system:basic-user"
	s.Want(200, "DELETE", rejected, nil)
	s.Want(200, "DELETE", other, nil)
	s.Put(t, "/registry/clusterroles/system:discovery", "garbage")
	s.Put(
		t, "/registry/clusterroles/system:monitoring",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"system:monitoring"}}`,
	)
	if err := s.API.EnsureRoles(t.Context()); err != nil {
		t.Error(err)
	}
	s.Want(404, "GET", rejected, nil)
	s.Want(200, "GET", other, nil)
	for _, name := range []string{"system:controller:bootstrap-signer", "system:discovery", "system:monitoring"} {
		if !strings.Contains(s.Log.String(), "failed to ensure a default role or binding\" resource=") ||
			!strings.Contains(s.Log.String(), "name="+name+" err=") {
			t.Errorf("the log doesn't name %s", name)
		}
	}
}

// TestFirstForbidden: the server starts, too, if a quota denies the service kubernetes.
func TestFirstForbidden(t *testing.T) {
	s := start(t, nil)
	const quotas, hard = "/api/v1/namespaces/default/resourcequotas", `"hard":{"services":"0"}`
	s.Want(201, "POST", quotas, `{"metadata":{"name":"q"},"spec":{`+hard+`}}`)
	s.Want(
		200, "PUT", quotas+"/q/status",
		`{"metadata":{"name":"q"},"spec":{`+hard+`},"status":{`+hard+`,"used":{"services":"0"}}}`,
	)
	if err := s.API.EnsureFirst(t.Context(), bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Error(err)
	}
	s.Want(404, "GET", "/api/v1/namespaces/default/services/kubernetes", nil)
	if !strings.Contains(s.Log.String(), "creating services kubernetes") {
		t.Error("nothing is logged")
	}
}

// ownersEnforced enables OwnerReferencesPermissionEnforcement.
func ownersEnforced(c *apiserver.Config) {
	c.EnableAdmission = []string{"OwnerReferencesPermissionEnforcement"}
}

// TestOwnersOnSecurePort: an unauthorised dependent can't delay its owner's deletion.
func TestOwnersOnSecurePort(t *testing.T) {
	s := start(t, ownersEnforced)
	s.Grant("alice", "a", "maps",
		`[{"verbs":["create","get","update","patch"],"apiGroups":[""],"resources":["configmaps"]},
		{"verbs":["create","patch","delete"],"apiGroups":["apps"],"resources":["deployments","deployments/status"]}]`)
	o := s.Want(201, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"o"}}`).Object()
	block := `[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"` + string(o.GetUID()) +
		`","blockOwnerDeletion":true}]`
	s.Want(201, "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"d"}}`)
	s.Settle()
	meta := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","ownerReferences":` + block + `}}`
	for _, c := range []struct{ method, path, body, media string }{
		{"POST", "configmaps", fmt.Sprintf(meta, "n"), "application/json"},
		{"PUT", "configmaps/d", fmt.Sprintf(meta, "d"), "application/json"},
		{"PATCH", "configmaps/d", `{"metadata":{"ownerReferences":` + block + `}}`, mergeType},
		{"PATCH", "configmaps/d", `{"metadata":{"ownerReferences":` + block + `}}`, "application/strategic-merge-patch+json"},
		{
			"PATCH", "configmaps/d", `[{"op":"add","path":"/metadata/ownerReferences","value":` + block + `}]`,
			"application/json-patch+json",
		},
		{"PATCH", "configmaps/d?fieldManager=m", fmt.Sprintf(meta, "d"), "application/apply-patch+yaml"},
		{"PATCH", "configmaps/n?fieldManager=m", fmt.Sprintf(meta, "n"), "application/apply-patch+yaml"},
	} {
		if a := s.As("alice", c.method, "/api/v1/namespaces/a/"+c.path, c.body, "Content-Type", c.media); a.Code != 403 {
			t.Errorf("%s %s as %s: %d %s", c.method, c.path, c.media, a.Code, a.Body)
		}
	}
}

// TestOwnersOfNamespaces: the permission to change a namespace's owners is checked in that namespace.
func TestOwnersOfNamespaces(t *testing.T) {
	s := start(t, ownersEnforced)
	s.Grant("alice", "a", "changes", `[{"verbs":["patch"],"apiGroups":[""],"resources":["namespaces"]}]`)
	s.Grant("mallory", "a", "deletes", `[{"verbs":["patch","delete"],"apiGroups":[""],"resources":["namespaces"]}]`)
	const owners = `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"1"}]}}`
	for _, c := range []struct {
		user, namespace string
		code            int
	}{{"alice", "a", 403}, {"mallory", "b", 403}, {"mallory", "a", 200}} {
		if a := s.As(c.user, "PATCH", "/api/v1/namespaces/"+c.namespace, owners); a.Code != c.code {
			t.Errorf("%s in %s: %d %s", c.user, c.namespace, a.Code, a.Body)
		}
	}
}

// TestKindsOfOwners: a blocking owner is of any kind that discovery shows, in upper or lower case (G-07, G-08).
func TestKindsOfOwners(t *testing.T) {
	s := start(t, ownersEnforced)
	s.Grant("alice", "a", "maps", `[{"verbs":["create"],"apiGroups":[""],"resources":["configmaps"]},
		{"verbs":["update"],"apiGroups":[""],"resources":["configmaps/finalizers","bindings/finalizers"]}]`)
	for kind, message := range map[string]string{
		"ConfigMap": "", "configmap": "", "Binding": "",
		"Secret":        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
		"configMap":     `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind configMap: no matches for kind "configMap" in version "v1"`,
		"ConfigMapList": `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind ConfigMapList: no matches for kind "ConfigMapList" in version "v1"`,
	} {
		a := s.As(
			"alice", "POST", "/api/v1/namespaces/a/configmaps?dryRun=All",
			`{"metadata":{"name":"n","ownerReferences":[{"apiVersion":"v1","kind":"`+kind+
				`","name":"o","uid":"1","blockOwnerDeletion":true}]}}`,
		)
		if got := strings.TrimPrefix(a.Status().Message, `configmaps "n" is forbidden: `); a.Code != 201 && message == "" ||
			got != message {
			t.Errorf("%s: %d %s", kind, a.Code, got)
		}
	}
}

// TestSlashes: a path with slashes at its end is authorized with these slashes, too.
func TestSlashes(t *testing.T) {
	s := start(t, nil)
	s.Grant("alice", "", "below", `[{"verbs":["get"],"nonResourceURLs":["/metrics/*","/healthz/*"]}]`)
	for path, want := range map[string][2]int{ // for alice and for an anonymous user
		"/healthz": {200, 200}, "/healthz/": {200, 403}, "/healthz//": {200, 403}, "/version/": {200, 200},
		"/version//": {403, 403},
		"/metrics":   {403, 403}, "/metrics/": {403, 403}, "/api/": {200, 403}, "/apis/apps/v1/": {200, 403},
	} {
		if got := [2]int{s.As("alice", "GET", path, nil).Code, s.Ask("GET", path, nil).Code}; got != want {
			t.Errorf("%s: %v, not %v", path, got, want)
		}
	}
}
