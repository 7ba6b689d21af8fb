package filters

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// Measure gives each request its Audit-Id, records its response, counts it and logs it. limit is the time for which a
// client may leave a response unread (see render.Recorder).
func Measure(m *metrics.Metrics, log *slog.Logger, limit time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := r.Header.Get("Audit-Id")
			if id == "" {
				id = uuid.NewString()
			}
			w.Header().Set("Audit-Id", id)
			rec, r := render.Record(w, r, limit)
			defer func() { // also for an aborted connection
				took := time.Since(rec.Received)
				code, bytes := rec.Answered()
				m.Answered(rec.Label, code, bytes, took)
				if log.Enabled(r.Context(), slog.LevelDebug) {
					log.Debug(
						"request", "method", r.Method, "uri", requestinfo.Loggable(r.URL), "code", code, "bytes", bytes, "took", took,
						"agent", r.UserAgent(),
					)
				}
			}()
			next.ServeHTTP(rec, r)
			if rec.Lost {
				panic(http.ErrAbortHandler)
			}
			rec.Finish()
		})
	}
}
