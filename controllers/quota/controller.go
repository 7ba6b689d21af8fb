package quota

import (
	"context"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Options configure a controller. Zero values mean the defaults.
type Options struct {
	// Workers is the maximum number of concurrent passes (default 5, as --concurrent-resource-quota-syncs).
	Workers int
	// Log receives errors and warnings; nil discards them.
	Log *slog.Logger
}

// Controller keeps the status of resource quotas.
type Controller struct {
	pass    pass
	workers int
	log     *slog.Logger
}

// New returns a controller that is not running.
func New(api API, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 5
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Controller{pass: pass{api: api, now: reconcile.Now}, workers: o.Workers, log: o.Log}
}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[Event, string, error]{Schedule: newSchedule(), Workers: c.workers,
		Follow: c.pass.api.Follow, Pass: c.count, About: reconcile.Namespace, Log: c.log, What: "resource quotas"}
	loop.Run(ctx)
}

// count carries a pass out. Conflicts are normal: admission has written the quota meanwhile.
func (c *Controller) count(ctx context.Context, name string) error {
	err := c.pass.run(ctx, name)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
		c.log.Warn("failed to update resource quota usage", "namespace", name, "err", err)
	}
	return err
}
