package requestinfo_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

func TestAttributes(t *testing.T) {
	resource := func(verb, group, version, namespace, resource, sub, name string) authorization.Attributes {
		return authorization.Attributes{
			Verb: verb, IsResource: true, Group: group, Version: version, Namespace: namespace, Resource: resource,
			Subresource: sub, Name: name,
		}
	}
	for _, c := range []struct {
		method, url string
		want        authorization.Attributes
	}{
		{"GET", "/", authorization.Attributes{Verb: "get"}},
		{"POST", "/healthz/x", authorization.Attributes{Verb: "post"}},
		{"GET", "/api/v1", authorization.Attributes{Verb: "get"}},
		{"GET", "/apis/apps/v1", authorization.Attributes{Verb: "get"}},
		{"GET", "/apis/apps/v1/", authorization.Attributes{Verb: "get"}},
		{"GET", "/api/v1/pods", resource("list", "", "v1", "", "pods", "", "")},
		{"HEAD", "/api/v1/nodes/n", resource("get", "", "v1", "", "nodes", "", "n")},
		{"GET", "/api/v1/pods?watch=1", resource("watch", "", "v1", "", "pods", "", "")},
		{
			"GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp", resource("list", "", "v1", "a", "pods", "", "p"),
		},
		{
			"GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3D..", resource("list", "", "v1", "a", "pods", "", ""),
		},
		{
			"DELETE", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp",
			resource("deletecollection", "", "v1", "a", "pods", "", ""),
		},
		{
			"PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale",
			resource("patch", "apps", "v1", "a", "deployments", "scale", "d"),
		},
		{"POST", "/api/v1/namespaces/a/pods/p/proxy/x/y", resource("create", "", "v1", "a", "pods", "proxy", "p")},
		{"GET", "/api/v1/namespaces/a", resource("get", "", "v1", "a", "namespaces", "", "a")},
		{"PUT", "/api/v1/namespaces/a/finalize", resource("update", "", "v1", "a", "namespaces", "finalize", "a")},
		{"POST", "/api/v1/namespaces", resource("create", "", "v1", "", "namespaces", "", "")},
		{"GET", "/api/v1/watch/namespaces/a/pods/p", resource("watch", "", "v1", "a", "pods", "", "p")},
		{"GET", "/api/v1/watch/pods", resource("watch", "", "v1", "", "pods", "", "")},
		{"GET", "/api/v1/watch/namespaces/a/pods/p/log", resource("watch", "", "v1", "a", "pods", "log", "p")},
		{"GET", "/api/v1/pods?limit=x&fieldSelector=metadata.name%3Dp", resource("list", "", "v1", "", "pods", "", "")},
		{"GET", "/api/v1/pods?limit=x&watch=true", resource("watch", "", "v1", "", "pods", "", "")},
		{"TRACE", "/api/v1/pods", resource("", "", "v1", "", "pods", "", "")},
	} {
		r := httptest.NewRequest(c.method, c.url, nil)
		c.want.Path = r.URL.Path
		i := requestinfo.Of(requestinfo.With(r, authorization.User{}))
		if err := i.Parse(r); err != nil {
			t.Errorf("%s %s: %v", c.method, c.url, err)
		}
		if diff := cmp.Diff(&c.want, i.Attributes()); diff != "" {
			t.Errorf("%s %s: %s", c.method, c.url, diff)
		}
	}
}

// TestPathWithoutItsResourceIsAnError: a path that ends where a resource is expected is an error.
func TestPathWithoutItsResourceIsAnError(t *testing.T) {
	for _, path := range []string{"/api/v1/watch", "/apis/apps/v1/proxy/"} {
		var i requestinfo.Info
		err := i.Parse(httptest.NewRequest("GET", path+"?a=b", nil))
		if err == nil || !strings.HasSuffix(err.Error(), path+"?a=b") {
			t.Errorf("%s: %+v, %v", path, i, err)
		}
	}
}
