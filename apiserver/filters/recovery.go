package filters

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Recover responds with 500 if a handler panics, and logs the stack. If a part of the response was sent, it can't
// become an error. Recover then closes the connection, so that no client treats the part as the whole. A handler does
// the same when it panics with http.ErrAbortHandler.
func Recover(m *metrics.Metrics, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				p := recover()
				switch p {
				case nil:
					return
				case http.ErrAbortHandler:
					panic(p)
				}
				m.Panics.Inc()
				log.Error("handler panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				if render.RecorderOf(r).Begun() {
					panic(http.ErrAbortHandler)
				}
				render.Error(log, w, r, apierrors.NewInternalError(status.ErrPanic))
			}()
			next.ServeHTTP(w, r)
		})
	}
}
