package crd

import (
	"context"
	"log/slog"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// backoff is the pause after failures.
var backoff = reconcile.Backoff{Min: 10 * time.Millisecond, Max: time.Minute}

// rest is the pause after a failure that no event shortens.
const rest = 200 * time.Millisecond

// Controller keeps the status of CRDs.
type Controller struct {
	api API
	log *slog.Logger
	now func(context.Context) time.Time
}

// New returns a controller that is not running; log may be nil.
func New(api API, log *slog.Logger) *Controller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Controller{api: api, log: log, now: reconcile.Now}
}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[string, string, reconcile.Outcome]{Schedule: reconcile.NewKeys(backoff, strings.Compare),
		Workers: 1, // two CRDs must not get the same name
		Follow:  c.api.Follow, Pass: c.keep, About: about, Log: c.log, What: "CRDs"}
	loop.Run(ctx)
}

// about names a CRD.
func about(name string) reconcile.Object {
	return reconcile.Object{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
		Kind: "CustomResourceDefinition", Name: name}
}

// keep carries a pass out. After a conflict, the event of the other write causes another pass.
func (c *Controller) keep(ctx context.Context, name string) reconcile.Outcome {
	err := c.pass(ctx, name)
	if err == nil || ctx.Err() != nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return reconcile.Outcome{}
	}
	c.log.Warn("failed to update a CustomResourceDefinition", "name", name, "err", err)
	return reconcile.Outcome{Err: err, Rest: rest} // writing the failure into the status is an event, too
}
