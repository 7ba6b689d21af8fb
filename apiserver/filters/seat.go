package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/inflight"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
)

// Seat serves a path that is no resource's when the request has its seat.
func Seat(limits *inflight.Limits, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			i := requestinfo.Of(r)
			limits.CountIn(r, i.User)
			err := limits.Seat(w, r, inflight.Ask{Attributes: i.Attributes()}, func() error {
				next.ServeHTTP(w, r)
				return nil
			})
			if err != nil {
				respond.Error(log, w, r, err)
			}
		})
	}
}
