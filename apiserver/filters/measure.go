package filters

import (
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
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
				id = newID()
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

// newID returns a random UUID (version 4). IDs may be predictable, so newID does not read random numbers from the
// system, which would take longer than the routing of a request.
func newID() string {
	var id uuid.UUID
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // RFC 9562
	return id.String()
}
