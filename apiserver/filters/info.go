package filters

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
)

// RequestInfo parses what the request names, in turn where that takes long.
func RequestInfo(limits *inflight.Limits, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			i, err := requestinfo.Of(r), error(nil)
			ended := limits.InTurn(r, i.User.Name, len(r.URL.RawQuery) > requestinfo.SlowQuery, func() { err = i.Parse(r) })
			switch {
			case ended != nil:
				respond.Error(log, w, r, ended)
			case err != nil: // AS pkg/endpoints/filters/requestinfo.go, handlers/responsewriters/errors.go: InternalError
				http.Error(
					w, fmt.Sprintf("Internal Server Error: %q: failed to create RequestInfo: %v", r.RequestURI, err),
					http.StatusInternalServerError,
				)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}
