package conformance

import (
	"context"
	"net/http"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

var requestInfos = request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

// parseRequest parses a request as a server does. It returns nil if the request is not for a resource.
func parseRequest(method, path string) *request.RequestInfo {
	r, err := http.NewRequest(method, path, nil)
	if err != nil {
		return nil
	}
	info, err := requestInfos.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return nil
	}
	return info
}

// doesNotServe reports whether the resource is missing in the server's discovery of a group version. It returns false
// if the server does not return the discovery.
func (c *Client) doesNotServe(ctx context.Context, path, plural string) bool {
	a, err := c.do(ctx, http.MethodGet, path, "", nil)
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

// skipUnsupported skips the case if the server does not serve the resource of a request, or if the user lacks the
// permission. It does not skip the case if the resource is one of the case's own CustomResourceDefinitions.
func (t *T) skipUnsupported(a *Answer, method, url string) {
	info := parseRequest(method, url)
	if info == nil || t.prefix == "" { // requests of the cleanup have no prefix
		return
	}
	switch groupVersion := path.Join(info.APIPrefix, info.APIGroup, info.APIVersion); a.Code {
	case http.StatusNotFound:
		if !strings.HasPrefix(info.APIGroup, t.prefix) && t.client.doesNotServe(t.ctx, "/"+groupVersion, info.Resource) {
			panic(skipped("the server does not serve " + info.Resource + " of " + groupVersion))
		}
	case http.StatusForbidden:
		t.forbidden(a, right{info.Verb, info.APIGroup, info.Resource, info.Subresource})
	}
}
