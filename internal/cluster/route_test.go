package cluster_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// TestTrailHidesForbiddenObjects: a user sees only objects that the user may list, and a 404 doesn't reveal whether
// there are others.
func TestTrailHidesForbiddenObjects(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tr := trail.New(began)
	var s *apiservertest.Secured
	s = apiservertest.StartSecured(t, func(c *apiserver.Config) {
		c.Extensions = []render.Route{cluster.Trail(tr,
			func() authorization.Authorizer { return s.API.Authorizer() }, slog.New(slog.DiscardHandler))}
	})
	s.Grant("alice", "", "trail", `[{"nonResourceURLs":["/kubecascade/v1/trail"],"verbs":["get"]}]`)
	s.Grant("alice", "a", "configmaps", `[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]`)
	const first, second = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	secrets, configMaps := trail.Type{Version: "v1", Kind: "Secret", Resource: "secrets"},
		trail.Type{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	for _, namespace := range []string{"b", "a"} { // the last removal has the uids
		tr.Removed(&trail.Subject{Type: secrets, Namespace: namespace, Name: "top", UID: first}, 5, began, nil,
			trail.NewRequest(trail.Sent{User: "bob", Verb: "delete"}))
		tr.Removed(&trail.Subject{Type: configMaps, Namespace: namespace, Name: "x", UID: second}, 6, began, nil,
			trail.NewRequest(trail.Sent{User: "gc", Own: true, Reason: trail.OwnerDeleted, Owners: []trail.Object{
				{APIVersion: "v1", Kind: "Secret", Name: "top", UID: first}}}))
	}
	const path = "/kubecascade/v1/trail"
	ask := func(user, query string) []*trail.Removal {
		t.Helper()
		var answer trail.Answer
		a := s.As(user, "GET", path+query, nil)
		if err := json.Unmarshal(a.Body, &answer); err != nil || a.Code != http.StatusOK || answer.Kind != "Trail" {
			t.Fatalf("%s: %d %s", query, a.Code, a.Body)
		}
		return answer.Items
	}
	items := ask("alice", "?kind=configmap&name=x")
	if len(items) != 1 || items[0].Object.Namespace != "a" {
		t.Errorf("%+v", items)
	}
	const why = `user "alice" may not list resource "secrets" in API group ""`
	if owner := items[0].Asked.Owners[0]; owner.Trail != nil || owner.Hidden != why || owner.Object.Name != "top" {
		t.Errorf("%+v", owner)
	}
	if items := ask("admin", "?kind=configmap&name=x&group="); len(items) != 2 || items[0].Asked.Owners[0].Trail == nil {
		t.Errorf("%+v", items)
	}
	hidden := s.As("alice", "GET", path+"?kind=secret&name=top", nil)
	absent := s.As("alice", "GET", path+"?kind=secret&name=none", nil)
	if hidden.Code != http.StatusNotFound || absent.Status().Message != hidden.Status().Message ||
		hidden.Status().Reason != "NotFound" || absent.Status().Message != "no removal of such an object is known, or you "+
		"may not list it: this server keeps only the last 100000 removals since it started at 2026-01-02T03:04:05Z, "+
		"of which there were 4" {
		t.Errorf("%s\n%s", hidden.Body, absent.Body)
	}
	for query, code := range map[string]int{
		"": http.StatusBadRequest, "?name=x": http.StatusBadRequest, "?kind=configmap&nmae=x": http.StatusBadRequest,
		"?uid=" + first: http.StatusNotFound, "?uid=" + second + "&kind=pod": http.StatusNotFound,
	} {
		if a := s.As("alice", "GET", path+query, nil); a.Code != code {
			t.Errorf("%q: %d %s", query, a.Code, a.Body)
		}
	}
	if a := s.As("mallory", "GET", path+"?kind=configmap", nil); a.Code != http.StatusForbidden {
		t.Errorf("without the permission for the path: %d %s", a.Code, a.Body)
	}
}
