package endpoints

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// odd are custom resources whose names and versions are also words of paths.
func odd() (all []*resources.Resource) {
	for _, version := range []string{"v1", "watch", "namespaces"} {
		for _, plural := range []string{"watch", "proxy", "namespaces", "status", "finalize", "foos"} {
			for group, namespaced := range map[string]bool{"ns.test": true, "cluster.test": false} {
				all = append(all, &resources.Resource{
					Served: resources.Served{
						Group: group, Version: version, Kind: plural,
						Verbs: []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
					},
					Plural: plural, Namespaced: namespaced,
					CustomResource: resources.CustomResource{Custom: true},
					Storage:        resources.Storage{Collection: group + "/" + plural},
				})
			}
		}
	}
	return all
}

// pathOf returns the path of a target.
func pathOf(t registry.Target) string {
	parts := []string{"", "apis", t.Resource.Group, t.Resource.Version}
	if t.Resource.Group == "" {
		parts = []string{"", "api", t.Resource.Version}
	}
	if t.Watch {
		parts = append(parts, "watch")
	}
	if t.Namespace != "" {
		parts = append(parts, "namespaces", t.Namespace)
	}
	parts = append(parts, t.Resource.Plural)
	for _, p := range []string{t.Name, subName(t), t.Rest} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}

func subName(t registry.Target) string {
	if t.Subresource == nil {
		return ""
	}
	return t.Subresource.Name
}

// FuzzResolve: a request is authorized for the resource to which its path is resolved, and no part of the path is
// ignored.
func FuzzResolve(f *testing.F) {
	for _, path := range []string{
		"/api/v1/namespaces/a/pods/p", "/api/v1/namespaces//pods", "/api/v1/namespaces/a%2fb/pods/d/log",
		"/api/v1/watch/pods", "/api/v1/namespaces/a/status/x", "/api/v1/namespaces/a/finalize",
		"/api/v1/namespaces/a/namespaces/a", "/api/v1/namespaces/namespaces/pods", "/api/v1/watch/namespaces/a/secrets",
		"/api/v1/namespaces/a/services/s/proxy/x//y", "/api/v1/nodes//status", "/api/v1/proxy/pods",
		"/api/v1/namespaces/a/nodes/n", "/api/v1/namespaces/a/secrets/%2f", "/api/v1/namespaces/a/secrets/x%2f",
		"/apis/ns.test/watch/namespaces/a/foos/x", "/apis/cluster.test/namespaces/watch/namespaces/watch",
		"/apis/cluster.test/v1/namespaces/a", "/apis/ns.test/v1/namespaces/a/namespaces/a",
		"/apis/ns.test/v1/namespaces/a/status/x", "/apis/cluster.test/watch/watch/foos", "/apis//v1/namespaces",
		"//api/v1/namespaces",
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "HEAD"} {
			f.Add(method, path)
		}
	}
	types := resources.NewTable(append(resources.Builtin(), odd()...)...)
	f.Fuzz(func(t *testing.T, method, path string) {
		u, err := url.Parse("http://h" + path)
		if err != nil || u.RawQuery != "" || !strings.HasPrefix(u.Path, "/") {
			return
		}
		r := &http.Request{Method: method, URL: u}
		var i requestinfo.Info
		if i.Parse(r) != nil {
			return
		}
		to, err := resolve(types, &i)
		if err != nil {
			return
		}
		if got := pathOf(to); got != u.Path {
			t.Errorf("%q is resolved as %q", u.Path, got)
		}
		a := i.Attributes()
		inNamespace := to.Namespace == a.Namespace || to.Resource.Plural == "namespaces" && a.Namespace == to.Name
		if a.Group != to.Resource.Group || a.Version != to.Resource.Version || a.Resource != to.Resource.Plural ||
			a.Name != to.Name || a.Subresource != subName(to) || !inNamespace {
			t.Errorf("%q is authorized as %+v, resolved as %+v", u.Path, a, to)
		}
		if verb := verbOf(&i, method); verb != "" && verb != a.Verb && to.Serves(verb) {
			t.Errorf("%s %q is authorized as %s, and served as %s", method, u.Path, a.Verb, verb)
		}
	})
}
