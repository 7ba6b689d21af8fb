package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// Seat serves a request when it has its seats: one for each 100 objects that it lists. Long-running requests except
// watches need none (AS pkg/server/filters/priority-and-fairness.go).
func Seat(
	seats *flowcontrol.Live, m *metrics.Metrics, listed func(*http.Request) int, log *slog.Logger,
) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := requestinfo.Of(r).Attributes()
			if a.LongRunning() && a.Verb != "watch" {
				next.ServeHTTP(w, r)
				return
			}
			counted := next
			if a.IsResource {
				counted = m.Serving(a.Verb, next)
			}
			need := flowcontrol.Request{Attributes: a, Objects: func() int { return listed(r) }}
			if err := seats.Serve(w, r, need, counted); err != nil {
				render.Error(log, w, r, err)
			}
		})
	}
}
