package namespace

import (
	"context"
	"log/slog"
	"strings"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Run deletes the content of namespaces that are being deleted, until ctx is done, and returns when all its goroutines
// have. At most workers passes run at a time.
func Run(ctx context.Context, api API, workers int, log *slog.Logger) {
	p, s := pass{api: api, log: log}, newSchedule()
	s.warn = func(name string, o outcome) {
		log.Warn("failed to delete the content of a namespace", "namespace", name, "left", o.left, "err", o.err)
	}
	loop := reconcile.Loop[string]{
		Keys: reconcile.NewKeys(backoff, strings.Compare), Workers: workers, Log: log,
		About: reconcile.Namespace, What: "namespaces",
		Pass: func(ctx context.Context, name string) reconcile.Outcome {
			if !s.begin(name) {
				return reconcile.Outcome{}
			}
			o := p.run(ctx, name)
			if ctx.Err() != nil {
				return reconcile.Outcome{} // its errors mean only that, and no pass follows
			}
			return s.end(name, o, reconcile.Now(ctx))
		},
		Follow: func(ctx context.Context, sink func(string)) error {
			return api.Follow(ctx, func(e Event) {
				if s.observe(e) {
					sink(e.Namespace)
				}
			})
		}}
	loop.Run(ctx)
}
