package dynamic_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestRolesAreCheckedAfterMutation: a user who may write roles can't use a webhook to add permissions that the user
// does not have. The role is checked after all mutating webhooks.
func TestRolesAreCheckedAfterMutation(t *testing.T) {
	s := apiservertest.StartSecured(t, nil)
	c := &cluster{Server: s.Server, t: t, hook: webhooktest.Start(t)}
	s.Grant("alice", "a", "roles",
		`[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"verbs":["create"]}]`)
	const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles"
	c.want(201, "POST", roles, `{"metadata":{"name":"before"}}`, "Impersonate-User", "alice")
	// The right is added in the second round.
	const grant = `[{"op":"add","path":"/rules","value":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}]`
	c.hook.ScriptPath("/label", patch(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`))
	c.hook.ScriptPath("/grant", func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		if strings.Contains(string(review.Request.Object.Raw), `"labels"`) {
			patch(grant)(w, review)
			return
		}
		webhooktest.Allow(w, review)
	})
	rules := rule("CREATE", "rbac.authorization.k8s.io", "v1", "roles")
	c.register("Mutating", "a", "/grant", rules, `"reinvocationPolicy":"IfNeeded"`)
	c.register("Mutating", "b", "/label", rules)
	c.says(c.want(403, "POST", roles, `{"metadata":{"name":"r"}}`, "Impersonate-User", "alice"),
		"is attempting to grant RBAC permissions not currently held")
	if got := c.calls(); !slices.Equal(got, []string{"/grant", "/label", "/grant"}) {
		t.Errorf("calls %v", got)
	}
}
