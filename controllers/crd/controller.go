package crd

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// backoff is the pause after failures.
var backoff = reconcile.Backoff{Min: 10 * time.Millisecond, Max: time.Minute}

// rest is the pause after a failure that no event shortens.
const rest = 200 * time.Millisecond

// Controller keeps the status of CRDs.
type Controller struct {
	client *loopback.Client
	// webhooks call the conversion webhooks of CRDs.
	webhooks *webhook.Clients
	log      *slog.Logger

	// mu guards known: the CRDs by key, as they were last decoded.
	mu    sync.Mutex
	known map[string]known
}

// New returns a controller that is not running; log may be nil.
func New(client *loopback.Client, webhooks *webhook.Clients, log *slog.Logger) *Controller {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Controller{client: client, webhooks: webhooks, log: log, known: map[string]known{}}
}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[string]{Keys: reconcile.NewKeys(backoff, strings.Compare),
		About: func(name string) reconcile.Object {
			return workload.CustomResourceDefinitions.About(workload.Key{Name: name})
		},
		Workers: 1, // two CRDs must not get the same name
		Follow:  c.follow, Pass: c.keep, Log: c.log, What: "CRDs"}
	loop.Run(ctx)
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
