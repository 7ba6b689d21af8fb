package conformance

import (
	"context"
	"net/http"
	"strings"
)

// resourceOf are the group version's path and the plural of the resource that a path names; false for other paths.
func resourceOf(path string) (version, plural string, ok bool) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	depth := map[string]int{"api": 2, "apis": 3}[parts[0]]
	if depth == 0 || len(parts) <= depth {
		return "", "", false
	}
	version, rest := "/"+strings.Join(parts[:depth], "/"), parts[depth:]
	if rest[0] == "namespaces" && len(rest) > 2 && rest[2] != "finalize" && rest[2] != "status" {
		rest = rest[2:]
	}
	return version, rest[0], true
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

// unserved skips the case if the answer is a 404 because the server does not serve the resource: such a server says
// nothing about the statement. The resources of the case's own CustomResourceDefinitions are not meant: they must be
// served.
func (t *T) unserved(a *Answer, path string) {
	if a.Code != http.StatusNotFound || t.prefix == "" {
		return
	}
	version, plural, ok := resourceOf(path)
	if !ok || strings.Contains(version, t.prefix) || !t.client.lacks(t.ctx, version, plural) {
		return
	}
	panic(skipped("the server does not serve " + plural + " of " + strings.TrimPrefix(version, "/")))
}
