package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/render"
)

// ErrNoCheckpoints says that the server can't go back to an earlier state. Test with errors.Is.
var ErrNoCheckpoints = errors.New("the server makes no checkpoints: it is not kubecascade, or an older one")

// Checkpoint is a kubecascade server's answer.
type Checkpoint struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	// Changed is how many objects a rollback has written.
	Changed int `json:"changed"`
}

// Checkpoint makes a checkpoint of a kubecascade server; an empty name is the server's default. Errors:
// ErrNoCheckpoints; all others have the server's message.
func (c *Client) Checkpoint(ctx context.Context, name string) (*Checkpoint, error) {
	return c.checkpoint(ctx, "checkpoints", name)
}

// Rollback returns to a checkpoint; an empty name is the last one. Errors are as for Checkpoint.
func (c *Client) Rollback(ctx context.Context, name string) (*Checkpoint, error) {
	return c.checkpoint(ctx, "rollback", name)
}

func (c *Client) checkpoint(ctx context.Context, path, name string) (*Checkpoint, error) {
	target := c.URL + render.RoutePrefix + path
	if name != "" {
		target += "?" + url.Values{"name": {name}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, nil)
	if err != nil {
		return nil, err
	}
	_, body, err := c.do(req)
	if apierrors.ReasonForError(err) == "" && (code(err) == http.StatusNotFound || code(err) == http.StatusMethodNotAllowed) {
		return nil, ErrNoCheckpoints
	}
	if err != nil {
		return nil, err
	}
	out := &Checkpoint{}
	if err := json.Unmarshal(body, out); err != nil || out.Revision == 0 {
		return nil, fmt.Errorf("%s did not answer as kubecascade does", c.URL)
	}
	return out, nil
}
