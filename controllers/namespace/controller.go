package namespace

import (
	"context"
	"log/slog"
	"strings"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Options configure a controller. Zero values mean the defaults.
type Options struct {
	// Workers is the maximum number of concurrent passes (default 10, E-07).
	Workers int
	// Log receives errors and warnings; nil discards them.
	Log *slog.Logger
}

// Controller deletes the content of namespaces that are being deleted.
type Controller struct {
	pass    pass
	workers int
}

// New returns a controller that is not running.
func New(api API, o Options) *Controller {
	if o.Workers <= 0 {
		o.Workers = 10
	}
	return &Controller{pass: pass{api: api, log: logger(o.Log), now: reconcile.Now}, workers: o.Workers}
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Run runs until ctx is done, and returns when all its goroutines have.
func (c *Controller) Run(ctx context.Context) {
	s := newSchedule()
	s.warn = func(name string, o outcome) {
		c.pass.log.Warn("failed to delete the content of a namespace", "namespace", name, "left", o.left, "err", o.err)
	}
	loop := reconcile.Loop[string]{
		Keys: reconcile.NewKeys(backoff, strings.Compare), Workers: c.workers, Log: c.pass.log,
		About: reconcile.Namespace, What: "namespaces",
		Pass: func(ctx context.Context, name string) reconcile.Outcome {
			if !s.begin(name) {
				return reconcile.Outcome{}
			}
			o := c.pass.run(ctx, name)
			if ctx.Err() != nil {
				return reconcile.Outcome{} // its errors mean only that, and no pass follows
			}
			return s.end(name, o, reconcile.Now(ctx))
		},
		Follow: func(ctx context.Context, sink func(string)) error {
			return c.pass.api.Follow(ctx, func(e Event) {
				if s.observe(e) {
					sink(e.Namespace)
				}
			})
		}}
	loop.Run(ctx)
}
