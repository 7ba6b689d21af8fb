package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/gc/trail"
)

// ErrNoTrail says that the server keeps no trail of removals. Test with errors.Is.
var ErrNoTrail = errors.New("the server keeps no trail of removed objects; only kubecascade does. " +
	"On other servers the audit log has the requests (kube-apiserver: --audit-policy-file and --audit-log-path): " +
	"look there for the verb delete and the name, and for the user generic-garbage-collector")

// Trail asks the server why objects went; query has the parameters of /kubecascade/v1/trail. The server's messages are
// the errors: that it knows of no such removal, or that the user may not ask.
func (c *Client) Trail(ctx context.Context, query url.Values) (*trail.Answer, error) {
	const path = render.RoutePrefix + "trail"
	var a trail.Answer
	err := c.getJSON(ctx, path, query, &a)
	switch {
	case code(err) == http.StatusNotFound:
		paths, denied := c.paths(ctx)
		if code(denied) == http.StatusNotFound || denied == nil && !slices.Contains(paths, path) {
			return nil, ErrNoTrail
		}
		return nil, err
	case err != nil:
		return nil, err
	}
	return &a, nil
}

// paths returns the paths of kubecascade's own that the server's index tells the user.
func (c *Client) paths(ctx context.Context) ([]string, error) {
	var index struct{ Paths []string }
	err := c.getJSON(ctx, strings.TrimSuffix(render.RoutePrefix, "/"), nil, &index)
	return index.Paths, err
}

// Has reports whether the server is a kubecascade server with a path below render.RoutePrefix, as far as its index tells
// the user.
func (c *Client) Has(ctx context.Context, name string) (bool, error) {
	paths, err := c.paths(ctx)
	if err != nil && code(err) == 0 {
		return false, err
	}
	return slices.Contains(paths, render.RoutePrefix+name), nil
}
