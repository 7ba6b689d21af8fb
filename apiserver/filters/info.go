package filters

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// RequestInfo parses the path and the query of the request.
func RequestInfo(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := requestinfo.Of(r).Parse(r); err != nil {
				unparsed(log, w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// unparsed responds with 500 (AS pkg/endpoints/filters/requestinfo.go).
func unparsed(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	log.Error("failed to create RequestInfo", "method", r.Method, "path", r.URL.Path)
	internalError(w, r, fmt.Errorf("failed to create RequestInfo: %w", err))
}

// internalError responds with 500 in plain text (AS pkg/endpoints/handlers/responsewriters/errors.go: InternalError).
func internalError(w http.ResponseWriter, r *http.Request, err error) {
	message := fmt.Sprintf("Internal Server Error: %q: %v", r.RequestURI, err)
	http.Error(w, requestinfo.NotHTML.Replace(message), http.StatusInternalServerError)
}
