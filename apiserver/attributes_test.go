package apiserver

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

func TestAttributes(t *testing.T) {
	resource := func(verb, group, version, namespace, resource, sub, name string) auth.Attributes {
		return auth.Attributes{Verb: verb, IsResource: true, Group: group, Version: version, Namespace: namespace, Resource: resource, Subresource: sub, Name: name}
	}
	for _, c := range []struct {
		method, url string
		want        auth.Attributes
	}{
		{"GET", "/", auth.Attributes{Verb: "get"}},
		{"POST", "/healthz/x", auth.Attributes{Verb: "post"}},
		{"GET", "/api/v1", auth.Attributes{Verb: "get"}},
		{"GET", "/apis/apps/v1", auth.Attributes{Verb: "get"}},
		{"GET", "/apis/apps/v1/", auth.Attributes{Verb: "get"}},
		{"GET", "/api/v1/pods", resource("list", "", "v1", "", "pods", "", "")},
		{"HEAD", "/api/v1/nodes/n", resource("get", "", "v1", "", "nodes", "", "n")},
		{"GET", "/api/v1/pods?watch=1", resource("watch", "", "v1", "", "pods", "", "")},
		{"GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp", resource("list", "", "v1", "a", "pods", "", "p")},
		{"GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3D..", resource("list", "", "v1", "a", "pods", "", "")},
		{"DELETE", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp", resource("deletecollection", "", "v1", "a", "pods", "", "")},
		{"PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", resource("patch", "apps", "v1", "a", "deployments", "scale", "d")},
		{"POST", "/api/v1/namespaces/a/pods/p/proxy/x/y", resource("create", "", "v1", "a", "pods", "proxy", "p")},
		{"GET", "/api/v1/namespaces/a", resource("get", "", "v1", "a", "namespaces", "", "a")},
		{"PUT", "/api/v1/namespaces/a/finalize", resource("update", "", "v1", "a", "namespaces", "finalize", "a")},
		{"POST", "/api/v1/namespaces", resource("create", "", "v1", "", "namespaces", "", "")},
		{"GET", "/api/v1/watch/namespaces/a/pods/p", resource("watch", "", "v1", "a", "pods", "", "p")},
		{"GET", "/api/v1/watch/pods", resource("watch", "", "v1", "", "pods", "", "")},
		{"GET", "/api/v1/watch", resource("watch", "", "v1", "", "", "", "")},
		{"TRACE", "/api/v1/pods", resource("", "", "v1", "", "pods", "", "")},
	} {
		r := httptest.NewRequest(c.method, c.url, nil)
		c.want.Path = r.URL.Path
		if diff := cmp.Diff(&c.want, attributesOf(r)); diff != "" {
			t.Errorf("%s %s: %s", c.method, c.url, diff)
		}
	}
}

// FuzzAttributes: what a plain path is judged as is what it is routed as. Of paths with escapes, those
// that are judged as what they are routed as have no slash hidden in a name.
func FuzzAttributes(f *testing.F) {
	for _, path := range []string{"/api/v1/namespaces/a/pods/p", "/api/v1/namespaces//pods", "/api/v1/namespaces/a%2fb/pods/d/log", "/api/v1/watch/pods", "/api/v1/namespaces/a/status/x", "/api/v1/namespaces/a/finalize"} {
		f.Add(path)
	}
	types := resources.NewTable(resources.Builtin()...)
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.Parse("http://h" + strings.TrimRight(path, "/"))
		if err != nil || !strings.HasPrefix(u.EscapedPath(), "/api/v1/") || u.RawQuery != "" {
			return
		}
		r := &http.Request{Method: http.MethodGet, URL: u}
		judged := attributesOf(r)
		to, err := registry.Resolve(types, "", "v1", afterSegments(u.EscapedPath(), 2))
		if err != nil {
			return
		}
		routed := attributesFor(auth.User{}, to, verbOf(r, to))
		switch same := covers(judged, routed); {
		case !same && u.Path == u.EscapedPath():
			t.Errorf("%q: judged as %+v, routed as %+v", path, judged, routed)
		case same && strings.Count(u.Path, "/") != strings.Count(u.EscapedPath(), "/") && to.Rest == "":
			t.Errorf("%q hides a slash: judged as %+v, routed as %+v", path, judged, routed)
		}
	})
}
