package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/kubecascade/kubecascade/gc/trail"
)

// ErrNoTrail says that the server keeps no trail of removals. Test with errors.Is.
var ErrNoTrail = errors.New("the server keeps no trail of removed objects; only kubecascade does. " +
	"On other servers the audit log has the requests (kube-apiserver: --audit-policy-file and --audit-log-path): " +
	"look there for the verb delete and the name, and for the user generic-garbage-collector")

// Trail asks the server why objects went; query has the parameters of /kubecascade/v1/trail. The server's messages are
// the errors: that it knows of no such removal, or that the user may not ask.
func (c *Client) Trail(ctx context.Context, query url.Values) (*trail.Answer, error) {
	const path = "/kubecascade/v1/trail"
	var a trail.Answer
	err := c.getJSON(ctx, path, query, &a)
	switch {
	case code(err) == http.StatusNotFound && c.lacks(ctx, path):
		return nil, ErrNoTrail
	case err != nil:
		return nil, err
	}
	return &a, nil
}

// lacks reports whether the server's index of paths doesn't have the path.
func (c *Client) lacks(ctx context.Context, path string) bool {
	var index struct {
		Paths []string `json:"paths"`
	}
	err := c.getJSON(ctx, "/kubecascade/v1", nil, &index)
	for _, p := range index.Paths {
		if p == path {
			return false
		}
	}
	return err == nil || code(err) == http.StatusNotFound
}

// Has reports whether the server is a kubecascade server with a path below /kubecascade/v1/, as far as its index tells
// the user.
func (c *Client) Has(ctx context.Context, name string) (bool, error) {
	var index struct {
		Paths []string `json:"paths"`
	}
	err := c.getJSON(ctx, "/kubecascade/v1", nil, &index)
	if err != nil && code(err) == 0 {
		return false, err
	}
	return slices.Contains(index.Paths, extensions+name), nil
}
