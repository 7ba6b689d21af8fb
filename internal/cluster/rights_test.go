package cluster

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// TestStreamsFollowRights: a stream of a server's cache begins again when the user may list more, or less, than before.
func TestStreamsFollowRights(t *testing.T) {
	server := &Server{}
	var s *apiservertest.Secured
	s = apiservertest.StartSecured(t, func(c *apiserver.Config) {
		*server = Server{
			Cache: c.Cache, Types: c.Types, Revision: c.Store.Revision,
			Authorizer: func() authorization.Authorizer { return s.API.Authorizer() },
			Others:     func() ([]metav1.APIResource, []schema.GroupVersion) { return nil, nil },
			As:         func(authorization.User) *http.Client { return nil },
		}
	})
	list := func() (*cached, *Discovery) {
		t.Helper()
		source, err := server.open(t.Context(), authorization.User{Name: "alice"})
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{from: source, o: Options{Now: time.Now}}
		if _, err := r.list(t.Context()); err != nil {
			t.Fatal(err)
		}
		return source, r.d
	}
	before, d := list()
	if before.changed(t.Context(), d) {
		t.Error("changed without a change")
	}
	s.Grant("alice", "", "read", `[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]`)
	if !before.changed(t.Context(), d) {
		t.Error("a right that was granted is not noticed")
	}
	after, d := list()
	if after.changed(t.Context(), d) {
		t.Error("changed without a change, with the right")
	}
	const object = "/registry/configmaps/a/o"
	s.Put(t, object, "garbage")
	unreadable, unlisted := list()
	if unreadable.changed(t.Context(), unlisted) {
		t.Error("changed without a change, with an object that can't be decoded")
	}
	s.Put(t, object, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o","namespace":"a","uid":"o"}}`)
	if !unreadable.changed(t.Context(), unlisted) {
		t.Error("no object that can't be decoded is left, which is not noticed")
	}
	s.Want(200, "DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/read", nil)
	if err := s.Cache.Wait(t.Context(), s.Revision()); err != nil {
		t.Fatal(err)
	}
	if !after.changed(t.Context(), d) {
		t.Error("a right that was removed is not noticed")
	}
}

// TestProbeNoticesNewRights: a resource that could not be listed, and can be now, is noticed; one that is still
// forbidden is not.
func TestProbeNoticesNewRights(t *testing.T) {
	secrets := func(answer string) *Client {
		return old(t, map[string]string{
			"/api/v1": `{"kind":"APIResourceList","resources":[
				{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["list","watch","delete"]}]}`,
			"/api/v1/secrets": answer,
		})
	}
	c := secrets(`403!{"kind":"Status","message":"forbidden"}`)
	r := &reader{from: c, o: Options{Now: time.Now}}
	if _, err := r.list(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changed, err := c.probe(t.Context(), r.d); changed || err != nil {
		t.Errorf("still forbidden: %t, %v", changed, err)
	}
	c.URL = secrets(list("")).URL
	if changed, err := c.probe(t.Context(), r.d); !changed || err != nil {
		t.Errorf("allowed: %t, %v", changed, err)
	}
}
