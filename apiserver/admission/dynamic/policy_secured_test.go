package dynamic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const (
	theirMaps = "/api/v1/namespaces/a/configmaps"
	adminAPI  = `[{"verbs":["*"],"apiGroups":["admissionregistration.k8s.io"],"resources":["*"]},` +
		`{"verbs":["*"],"apiGroups":[""],"resources":["pods","serviceaccounts","serviceaccounts/token"]}]`
)

// TestPolicyWritersMustReadParams: who writes a policy with params must be allowed to read all of them, and who binds
// one must be allowed to read the param (M-09, M-10).
func TestPolicyWritersMustReadParams(t *testing.T) {
	s := apiservertest.StartSecured(t, nil)
	s.Grant("alice", "", "policies", adminAPI)
	rules := `{"resourceRules":[` + rule("CREATE", "", "v1", "configmaps") + `]}`
	for _, test := range []struct{ kind, spec string }{
		{"Validating", valid("true")},
		{"Mutating", `"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration",` +
			`"applyConfiguration":{"expression":"Object{}"}}]`},
	} {
		policies := hookConfigs + strings.ToLower(test.kind) + "admissionpolicies"
		bindings := hookConfigs + strings.ToLower(test.kind) + "admissionpolicybindings"
		const alice = "&{alice 2 [dev system:authenticated] map[]}"
		denied := func(a apiservertest.Answer, message string) {
			t.Helper()
			if st := a.Status(); a.Code != 422 || !strings.HasSuffix(st.Message, message) || st.Reason != "Invalid" {
				t.Errorf("%d %s\nwant %s", a.Code, st.Message, message)
			}
		}
		with := func(kind, apiVersion string) string {
			return policyOf(
				test.kind, "p", rules, fmt.Sprintf(`"paramKind":{"apiVersion":%q,"kind":%q}`, apiVersion, kind), test.spec,
			)
		}
		for _, kind := range []struct{ apiVersion, kind string }{{"v1", "ConfigMap"}, {"x.io/v1", "Foo"}} {
			denied(s.As("alice", "POST", policies, with(kind.kind, kind.apiVersion)), fmt.Sprintf(
				`spec.paramKind: Forbidden: user %s must have "get" permission on all objects of the referenced paramKind `+
					`(kind=%s, apiVersion=%s)`, alice, kind.kind, kind.apiVersion))
		}
		if a := s.As("alice", "POST", policies, with("Pod", "v1")); a.Code != 201 {
			t.Errorf("for what alice may read: %d %s", a.Code, a.Body)
		}
		s.Want(200, "DELETE", policies+"/p", nil)
		if a := s.As("admin", "POST", policies, with("ConfigMap", "v1")); a.Code != 201 {
			t.Errorf("by an administrator: %d %s", a.Code, a.Body)
		}
		if a := s.As("alice", "PATCH", policies+"/p", `{"spec":{"failurePolicy":"Ignore"}}`); a.Code != 200 {
			t.Errorf("the same paramKind: %d %s", a.Code, a.Body)
		}
		named := bindingOf(test.kind, "b", "p", `"paramRef":{"name":"m","namespace":"a","parameterNotFoundAction":"Deny"}`)
		all := bindingOf(test.kind, "b", "p", `"paramRef":{"selector":{},"parameterNotFoundAction":"Deny"}`)
		object := func(user, verb string) string {
			return fmt.Sprintf(
				`spec.paramRef: Forbidden: user %s does not have "%s" permission on the object referenced by paramRef`, user, verb,
			)
		}
		if test.kind == "Validating" {
			denied(s.As("alice", "POST", bindings, named), object(alice, "get"))
			denied(s.As("alice", "POST", bindings, all), object(alice, "get"))
		} else {
			denied(s.As("alice", "POST", bindings, named), object("get", alice))
			denied(s.As("alice", "POST", bindings, all), object("list", alice))
		}
		wrong := s.As( // nothing is asked if another field is wrong
			"alice", "POST", bindings, bindingOf(test.kind, "b", "", `"paramRef":{"name":"m","parameterNotFoundAction":"x"}`),
		)
		if message := wrong.Status().Message; wrong.Code != 422 || strings.Contains(message, "permission") ||
			!strings.Contains(message, "spec.policyName: Required value") ||
			!strings.Contains(message, `Unsupported value: "x": supported values: "Deny", "Allow"`) {
			t.Errorf("%d %s", wrong.Code, message)
		}
		s.Grant("alice", "a", "m"+strings.ToLower(test.kind),
			`[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["m"]}]`)
		if a := s.As("alice", "POST", bindings, named); a.Code != 201 {
			t.Errorf("for the object that alice may read: %d %s", a.Code, a.Body)
		}
		s.Want(200, "DELETE", bindings+"/b", nil)
		s.Want(200, "DELETE", policies+"/p", nil)
		s.Want(
			200, "DELETE", "/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings/m"+strings.ToLower(test.kind), nil,
		)
	}
}

// TestPolicyAuthorizer: expressions ask the authorizer for the user of the request, and a policy gets requests for
// tokens, which are not exempt as reviews are (M-S06, M-S07).
func TestPolicyAuthorizer(t *testing.T) {
	s := apiservertest.StartSecured(t, nil)
	s.Grant(
		"alice", "a", "maps", `[{"verbs":["create"],"apiGroups":[""],"resources":["configmaps","serviceaccounts/token"]}]`,
	)
	s.Grant("mallory", "a", "more", `[{"verbs":["create"],"apiGroups":[""],"resources":["configmaps"]},`+
		`{"verbs":["approve"],"apiGroups":[""],"resources":["configmaps"]}]`)
	s.Want(201, "POST", "/api/v1/namespaces/a/serviceaccounts", `{"metadata":{"name":"s"}}`)
	s.Want(201, "POST", hookConfigs+"validatingadmissionpolicies", policyOf("Validating", "p",
		`{"resourceRules":[`+rule("CREATE", "", "v1", "configmaps serviceaccounts/token")+`]}`, valid(
			"authorizer.requestResource.check('create').allowed()",
			"authorizer.group('').resource('configmaps').namespace(request.namespace).check('approve').allowed()")))
	s.Want(201, "POST", hookConfigs+"validatingadmissionpolicybindings", bindingOf("Validating", "p", "p"))
	const object = `{"metadata":{"name":"m"}}`
	st := s.As("alice", "POST", theirMaps, object).Status()
	if !strings.HasSuffix(st.Message, ".check('approve').allowed()") || st.Code != 422 {
		t.Errorf("%+v", st)
	}
	if a := s.As("mallory", "POST", theirMaps, object); a.Code != 201 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	st = s.As("alice", "POST", "/api/v1/namespaces/a/serviceaccounts/s/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`).Status()
	if !strings.HasPrefix(st.Message, `serviceaccounts "s" is forbidden: ValidatingAdmissionPolicy 'p'`) {
		t.Errorf("%+v", st)
	}
}
