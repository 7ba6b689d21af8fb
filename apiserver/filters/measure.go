package filters

import (
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/google/uuid"

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
				id = newID()
			}
			w.Header().Set("Audit-Id", id)
			rec := exchange.Of(r)
			rec.Received = start
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

// newID returns a random UUID (version 4). It need not be unpredictable, so it does not read random numbers of the
// system, which takes longer than routing a request.
func newID() string {
	var id uuid.UUID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // RFC 9562
	return id.String()
}
