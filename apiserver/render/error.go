package render

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Error responds with the Status of err, in a format that the client accepts.
func Error(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	st := status.Of(err)
	if st.Details != nil && st.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(st.Details.RetryAfterSeconds))) // 0-04
	}
	if st.Code >= 500 && st.Code != http.StatusNotImplemented && st.Code != http.StatusGatewayTimeout && !gone(r) {
		log.Error("request failed", "method", r.Method, "path", r.URL.Path, "code", st.Code, "err", Shortened(err))
	}
	Status(w, r, int(st.Code), st)
}

// gone reports whether the client has disconnected. That may be the cause of an error, for example of a webhook call.
func gone(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }

// Shortened returns the message of an error, cut so that a client's input does not fill the log.
func Shortened(err error) string {
	const most = 2 << 10
	text := err.Error()
	if len(text) > most {
		text = text[:most] + " ..."
	}
	return text
}

// Denied is Error for a request that the user is not allowed to make.
func Denied(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache, private")
	Error(log, w, r, err)
}
