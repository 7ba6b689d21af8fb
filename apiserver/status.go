package apiserver

import (
	"net/http"
	"strconv"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// writeError answers with the Status of err, in the form that the client accepts.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	st := status.Of(err)
	if st.Details != nil && st.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(st.Details.RetryAfterSeconds))) // 0-04
	}
	if st.Code >= 500 && st.Code != http.StatusNotImplemented && st.Code != http.StatusGatewayTimeout {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "code", st.Code, "err", shortened(err))
	}
	writeStatus(w, r, int(st.Code), st)
}

// shortened keeps what a client sent from filling the log.
func shortened(err error) string {
	const most = 2 << 10
	text := err.Error()
	if len(text) > most {
		text = text[:most] + " ..."
	}
	return text
}
