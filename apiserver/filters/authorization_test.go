package filters_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

const rbacPath = "/apis/rbac.authorization.k8s.io/v1"

// TestForeignNamespace: a user that may read in one namespace reads nothing of another, whatever the media type, the
// selector or the path's form.
func TestForeignNamespace(t *testing.T) {
	s := start(t, nil)
	s.Grant(
		"alice", "a", "reader", `[{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps","secrets"]}]`,
	)
	for _, name := range []string{"hidden", "open"} {
		s.Want(201, "POST", "/api/v1/namespaces/b/secrets",
			`{"metadata":{"name":"`+name+`","labels":{"l":"v"}},"stringData":{"k":"TOPSECRET"}}`)
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
		s.Want(200, "PATCH", rbacPath+"/clusterroles/"+name, change)
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

// deny creates a quota that denies the creation of a resource in a namespace.
func (s *secured) deny(namespace, resource string) {
	s.T.Helper()
	quotas, none := "/api/v1/namespaces/"+namespace+"/resourcequotas", `{"`+resource+`":"0"}`
	body := `{"metadata":{"name":"q"},"spec":{"hard":` + none + `},"status":{"hard":` + none + `,"used":` + none + `}}`
	s.Want(201, "POST", quotas, body)
	s.Want(200, "PUT", quotas+"/q/status", body)
}

// TestRolesNotEnsured: if default roles are rejected or can't be read, the server starts nevertheless and creates the
// others.
func TestRolesNotEnsured(t *testing.T) {
	s := start(t, nil)
	s.deny("kube-public", "count/roles.rbac.authorization.k8s.io")
	const rejected, other = rbacPath + "/namespaces/kube-public/roles/system:controller:bootstrap-signer", rbacPath +
		"/clusterroles/system:basic-user"
	s.Want(200, "DELETE", rejected, nil)
	s.Want(200, "DELETE", other, nil)
	s.Put(t, "/registry/clusterroles/system:discovery", "garbage")
	s.Put(t, "/registry/clusterroles/system:monitoring",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"system:monitoring"}}`)
	if err := s.API.EnsureRoles(t.Context()); err != nil {
		t.Error(err)
	}
	s.Want(404, "GET", rejected, nil)
	s.Want(200, "GET", other, nil)
	for _, name := range []string{"system:controller:bootstrap-signer", "system:discovery", "system:monitoring"} {
		if !strings.Contains(s.Log.String(), name+": ") {
			t.Errorf("the log doesn't name %s", name)
		}
	}
}

// TestServerStartsIfAQuotaDeniesItsService: the server starts, too, if a quota denies the service kubernetes.
func TestServerStartsIfAQuotaDeniesItsService(t *testing.T) {
	s := start(t, nil)
	s.deny("default", "services")
	if err := s.API.EnsureFirst(t.Context(), bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Error(err)
	}
	s.Want(404, "GET", "/api/v1/namespaces/default/services/kubernetes", nil)
	if !strings.Contains(s.Log.String(), "creating or updating services default/kubernetes") {
		t.Error("nothing is logged")
	}
}
