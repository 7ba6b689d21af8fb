package filters

import (
	"log/slog"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
)

// Measure gives each request its Audit-Id, counts and logs it. A body may be read until so long after the request's
// begin.
func Measure(m *metrics.Metrics, log *slog.Logger, limit time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			conn := exchange.ConnectionOf(r)
			conn.Rest()
			defer conn.Rest()
			id := r.Header.Get("Audit-Id")
			if id == "" {
				id = string(uuid.NewUUID())
			}
			w.Header().Set("Audit-Id", id)
			rec := exchange.Of(r)
			rec.Received = start
			if r.ProtoMajor < 2 {
				rec.SetDeadline(time.Time{}) // what the connection's last answer has left
			}
			defer func() { // a connection that is aborted was a request, too
				took := time.Since(start)
				code, bytes := rec.Answered()
				m.Answered(rec.Label, code, bytes, took)
				if log.Enabled(r.Context(), slog.LevelDebug) {
					log.Debug(
						"request", "method", r.Method, "uri", exchange.Loggable(r.URL), "code", code, "bytes", bytes, "took", took,
						"agent", r.UserAgent(),
					)
				}
			}()
			if exchange.HasBody(r) {
				r.Body = exchange.NewBody(w, r, start.Add(limit))
			}
			next.ServeHTTP(w, r)
			rec.Finish()
		})
	}
}
