package conformance

import (
	"context"
	"net/http"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

var requests = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// requested is what a request asks for, as a server reads it; nil if it is not for a resource.
func requested(method, path string) *request.RequestInfo {
	r, err := http.NewRequest(method, path, nil)
	if err != nil {
		return nil
	}
	info, err := requests.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return nil
	}
	return info
}

// lacks reports whether the server does not serve the resource of a group version, by its discovery. A server that does
// not answer that is believed to serve it.
func (c *Client) lacks(ctx context.Context, version, plural string) bool {
	a, err := c.do(ctx, http.MethodGet, version, "", nil)
	if err != nil {
		return false
	}
	if a.Code == http.StatusNotFound {
		return true
	}
	list, ok := a.Body["resources"].([]any)
	if a.Code != http.StatusOK || !ok {
		return false
	}
	for _, r := range list {
		if m, _ := r.(map[string]any); m["name"] == plural {
			return false
		}
	}
	return true
}

// skip skips the case if the answer tells nothing about the statement: the server does not serve the resource, or the
// user lacks the permission. The resources of the case's own CustomResourceDefinitions must be served.
func (t *T) skip(a *Answer, method, of string) {
	info := requested(method, of)
	if info == nil || t.prefix == "" { // without a prefix it is the cleanup
		return
	}
	switch version := path.Join(info.APIPrefix, info.APIGroup, info.APIVersion); a.Code {
	case http.StatusNotFound:
		if !strings.HasPrefix(info.APIGroup, t.prefix) && t.client.lacks(t.ctx, "/"+version, info.Resource) {
			panic(skipped("the server does not serve " + info.Resource + " of " + version))
		}
	case http.StatusForbidden:
		t.forbidden(a, right{info.Verb, info.APIGroup, info.Resource, info.Subresource})
	}
}
