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

// Recover answers 500 if a handler panics, and logs where. An answer that has begun to be sent can't become an error
// any more: the connection is cut, so that no client takes a half for the whole. http.ErrAbortHandler is how a handler
// asks for that.
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
