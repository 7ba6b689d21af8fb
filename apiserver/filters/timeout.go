package filters

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Timeout ends a request for a resource after the limit, or earlier if its parameter timeout is shorter (AS
// endpoints/filters/request_deadline.go). Long-running requests have no limit. Unlimited verbs have only the limit of
// the parameter (0-13).
func Timeout(limit time.Duration, unlimited func(verb string) bool, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a := requestinfo.Of(r).Attributes()
			if a.LongRunning() {
				next.ServeHTTP(w, r)
				return
			}
			d := limit
			if unlimited(a.Verb) {
				d = 0
			}
			if value := requestinfo.Query(r).Get("timeout"); value != "" {
				own, err := time.ParseDuration(value)
				if err != nil {
					render.Error(log, w, r, status.BadRequest("invalid timeout specified in the request URL - %s", err))
					return
				}
				if own > 0 && (d == 0 || own < d) {
					d = own
				}
			}
			if d > 0 { // includes the wait for seats (AS pkg/server/config.go: DefaultBuildHandlerChain)
				ctx, cancel := context.WithTimeout(r.Context(), d)
				defer cancel()
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(w, r)
		})
	}
}
