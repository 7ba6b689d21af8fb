package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
)

// Seat serves a path that is no resource's when the request has its seat.
func Seat(seats *flowcontrol.Live, log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ask := flowcontrol.Request{Attributes: requestinfo.Of(r).Attributes()}
			err := seats.Serve(w, r, ask, func() error {
				next.ServeHTTP(w, r)
				return nil
			})
			if err != nil {
				respond.Error(log, w, r, err)
			}
		})
	}
}
