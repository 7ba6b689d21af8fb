package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

const (
	// mostCheckpoints is the maximum number of checkpoints, and mostName that of the bytes of a name.
	mostCheckpoints, mostName = 16, 253
	// defaultName is the name of a checkpoint that is made without one.
	defaultName = "default"
)

// Result is the result of a checkpoint or a rollback.
type Result struct {
	// Name is the name of the checkpoint.
	Name string `json:"name"`
	// Revision is the newest revision of the state: lists that begin after the call have it or a newer one.
	Revision int64 `json:"revision"`
	// Changed is the number of objects that a rollback has written.
	Changed int `json:"changed,omitempty"`
}

// Checkpoints are the states that a server can return to. Errors of Make and Rollback are a Status, or ctx's.
type Checkpoints struct {
	// Restorer restores the store and the cache.
	Restorer *Restorer
	// StopControllers ends the controllers and waits for them. It returns false if the server ends before.
	// StartControllers starts new ones, unless the server is about to end.
	StopControllers  func() bool
	StartControllers func()
	// Ahead returns the time by which the clock was advanced. Restored sets the clock back to an earlier result of
	// Ahead. It is called for the state of a checkpoint, before a client can read that state.
	Ahead    func() time.Duration
	Restored func(ahead time.Duration)
	// Fail ends the server with an error.
	Fail func(err error)
	// Refused is the reason why the server makes no checkpoints; empty if it does.
	Refused string
	// Life is done when the server begins to end.
	Life context.Context
	Log  *slog.Logger

	// busy has an element while a checkpoint or a rollback is in progress, and after Close. It guards the fields below.
	busy chan struct{}
	all  map[string]*checkpoint
	made int
}

// checkpoint is a state to return to.
type checkpoint struct {
	*State
	ahead time.Duration
	// made is the number of the checkpoint: a later one has a greater number.
	made int
}

// New completes c, whose exported fields are set.
func New(c Checkpoints) *Checkpoints {
	c.busy, c.all = make(chan struct{}, 1), map[string]*checkpoint{}
	return &c
}

// Make records the state with every write that was acknowledged before the call, under a name. It replaces an earlier
// checkpoint with that name. An empty name is "default".
func (c *Checkpoints) Make(ctx context.Context, name string) (*Result, error) {
	if name == "" {
		name = defaultName
	}
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	if len(name) > mostName || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf(
			"the name of a checkpoint has at most %d bytes and no control characters", mostName))
	}
	if c.all[name] == nil && len(c.all) >= mostCheckpoints {
		return nil, statusError(http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf(
			"there are %d checkpoints already; use the name of one of them for the new one: %s", len(c.all), c.names()))
	}
	state, err := c.Restorer.State(ctx)
	if err != nil {
		return nil, err
	}
	c.made++
	c.all[name] = &checkpoint{State: state, ahead: c.Ahead(), made: c.made}
	return &Result{Name: name, Revision: state.Revision}, nil
}

// Rollback returns to the state of a checkpoint; an empty name means the latest one. The controllers end before
// anything is written, and start again afterwards: their data and their pending work belong to a state that no longer
// exists. After an error that leaves the state uncertain the server ends.
func (c *Checkpoints) Rollback(ctx context.Context, name string) (*Result, error) {
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	name, p, err := c.find(name)
	if err != nil {
		return nil, err
	}
	if !c.StopControllers() {
		return nil, c.stopping()
	}
	defer c.StartControllers()
	changed, err := c.Restorer.Restore(p.State, func() { c.Restored(p.ahead) })
	if errors.Is(err, storage.ErrNoSpace) { // nothing was written
		return nil, err
	}
	if err != nil {
		err = fmt.Errorf("rolling back to checkpoint %q: %w", name, err)
		c.Fail(err)
		return nil, err
	}
	c.Log.Info("rolled back", "checkpoint", name, "revision", p.Revision, "changed", changed)
	return &Result{Name: name, Revision: p.Revision, Changed: changed}, nil
}

// Close waits until a rollback has ended, and prevents others.
func (c *Checkpoints) Close() { c.busy <- struct{}{} }

// acquire waits until no checkpoint or rollback is in progress. The caller must then call release.
func (c *Checkpoints) acquire(ctx context.Context) error {
	if c.Refused != "" {
		return statusError(http.StatusForbidden, metav1.StatusReasonForbidden,
			"checkpoints and rollbacks are for servers with temporary data: "+c.Refused)
	}
	select {
	case c.busy <- struct{}{}:
		if c.Life.Err() != nil {
			c.release()
			return c.stopping()
		}
		return nil
	case <-c.Life.Done():
		return c.stopping()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Checkpoints) release() { <-c.busy }

// find returns the checkpoint with the name, or the latest one if the name is empty.
func (c *Checkpoints) find(name string) (string, *checkpoint, error) {
	if name == "" {
		for n, p := range c.all {
			if last := c.all[name]; last == nil || p.made > last.made {
				name = n
			}
		}
	}
	if p := c.all[name]; p != nil {
		return name, p, nil
	}
	why := "there is no checkpoint yet"
	if len(c.all) > 0 {
		why = fmt.Sprintf("there is no checkpoint %q, but there are: %s", name, c.names())
	}
	return "", nil, statusError(http.StatusNotFound, metav1.StatusReasonNotFound, why)
}

func (c *Checkpoints) names() string { return strings.Join(slices.Sorted(maps.Keys(c.all)), ", ") }

// stopping returns the error of a server that ends.
func (c *Checkpoints) stopping() error {
	return apierrors.NewServiceUnavailable("the server is shutting down")
}

// statusError returns a Status without details.
func statusError(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}
