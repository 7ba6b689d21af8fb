package filters

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// ReadBody reads the whole body of a request for a resource into requestinfo.Info, so that a slow client holds no seat.
// It skips get and list, whose bodies have no meaning, and long-running requests, whose bodies are streams.
func ReadBody(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			i := requestinfo.Of(r)
			if !i.Attributes().LongRunning() && i.Verb != "get" && i.Verb != "list" {
				var err error
				if end, ok := r.Context().Deadline(); ok && hasBody(r) { // not later than the deadline of Body
					_ = http.NewResponseController(w).SetReadDeadline(end)
				}
				if i.Body, err = readBody(r); err != nil {
					render.Error(log, w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// readBody reads the body to its end, which removes the deadline of the connection (timedBody).
func readBody(r *http.Request) (body []byte, err error) {
	switch {
	case r.ContentLength > codec.MaxBody:
		return nil, codec.TooLarge()
	case r.ContentLength > 0:
		body = make([]byte, r.ContentLength)
		if _, err = io.ReadFull(r.Body, body); err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
	case r.Body != nil:
		body, err = io.ReadAll(r.Body)
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, codec.TooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, status.ErrSlowBody
	case err != nil:
		return nil, status.BadRequest("reading the body: %v", err)
	}
	return body, nil
}
