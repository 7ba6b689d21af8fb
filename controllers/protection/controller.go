package protection

import (
	"context"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Options configure a controller. Zero values mean the defaults.
type Options struct {
	// Workers is the maximum number of concurrent passes (default 4). Upstream has one, over objects one by one.
	Workers int
	// Log receives errors and warnings; nil discards them.
	Log *slog.Logger
}

// Controller adds and removes the finalizer of one Rule.
type Controller struct {
	pass    pass
	workers int
	log     *slog.Logger
}

// New returns a controller that is not running.
func New(r Rule, api API, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Controller{pass: pass{api: api, rule: r}, workers: o.Workers, log: o.Log.With("kind", r.protects.String())}
}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	loop := reconcile.Loop[news, []Key, []outcome]{Schedule: newSchedule(), Workers: c.workers,
		Follow: c.follow, Pass: c.process, About: c.about, Log: c.log, What: "storage objects"}
	loop.Run(ctx)
}

// about names the first object of a pass.
func (c *Controller) about(keys []Key) reconcile.Object {
	o := reconcile.Object{Version: "v1", Resource: "persistentvolumeclaims", Kind: c.pass.rule.protects.String(),
		Namespace: keys[0].Namespace, Name: keys[0].Name}
	switch c.pass.rule.protects {
	case Volume:
		o.Resource = "persistentvolumes"
	case Class:
		o.Group, o.Resource = "storage.k8s.io", "volumeattributesclasses"
	}
	return o
}

// follow turns events into news.
func (c *Controller) follow(ctx context.Context, sink func(news)) error {
	return c.pass.api.Follow(ctx, c.pass.rule.protects, c.pass.rule.users, func(e Event) {
		if n, ok := c.pass.rule.read(e); ok {
			sink(n)
		}
	})
}

// process carries a pass out, and returns the outcomes in the order of the keys.
func (c *Controller) process(ctx context.Context, keys []Key) []outcome {
	outcomes := c.pass.run(ctx, keys)
	for i, o := range outcomes {
		if o.err != nil && ctx.Err() == nil && !apierrors.IsConflict(o.err) {
			c.log.Warn("failed to update the protection finalizer of a storage object",
				"namespace", keys[i].Namespace, "name", keys[i].Name, "err", o.err)
		}
	}
	return outcomes
}

// news is the effect of an event on the schedule.
type news struct {
	// began: every pending object needs a pass.
	began bool
	// key is pending or not; not set if the event is about a user.
	key     Key
	pending bool
	// released may no longer be in use.
	released []Key
}

// read turns an event into news; ok is false if it has no effect.
func (r Rule) read(e Event) (n news, ok bool) {
	switch e.Type {
	case Began:
		return news{began: true}, true
	case Protected:
		return news{key: e.Key, pending: e.New != nil && r.pending(e.New)}, true
	case User:
		n.released = released(e.Old, e.New)
	}
	return n, len(n.released) > 0
}
