package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// Audit records requests in the audit log: their arrival, the start of long-running responses, and the end (AS
// pkg/endpoints/filters/audit.go: WithAudit).
func Audit(events *audit.Log, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := render.RecorderOf(r)
			record := events.Begin(r, w.Header().Get("Audit-Id"), requestinfo.Of(r).Attributes(), rec.Received)
			if record == nil {
				next.ServeHTTP(w, r)
				return
			}
			if err := record.Received(); err != nil {
				log.Error("the request was rejected", "method", r.Method, "path", r.URL.Path, "err", err)
				internalError(w, r, err)
				return
			}
			rec.Audit = record
			defer func() {
				rec.Audit = nil // the response to a panic is not recorded as another stage
				if p := recover(); p != nil {
					record.Panicked(p)
					panic(p)
				}
				record.Completed()
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// auditRejected records a request without an authenticated user. The start of its response completes the record.
// Without an audit log, or if the path can't be parsed, it does nothing.
func auditRejected(events *audit.Log, w http.ResponseWriter, r *http.Request) {
	if events == nil {
		return
	}
	i := requestinfo.Of(r)
	if i.Parse(r) != nil {
		return
	}
	rec := render.RecorderOf(r)
	rec.Audit = events.Begin(r, w.Header().Get("Audit-Id"), i.Attributes(), rec.Received)
	rec.Audit.Rejected()
}
