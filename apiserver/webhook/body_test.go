package webhook_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// sized responds with a number of bytes, in chunks without a Content-Length if chunked.
func sized(bytes int, chunked bool) webhooktest.Answer {
	return func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
		if w.Header().Set("Content-Length", strconv.Itoa(bytes)); chunked {
			w.Header().Del("Content-Length")
			_ = http.NewResponseController(w).Flush() // the write returns the error, too
		}
		_, _ = io.WriteString(w, strings.Repeat("x", bytes)) // the client may close the connection
	}
}

// TestResponsesAreLimitedToMaxBody: a response of MaxBody bytes is read completely, and a larger one is an error.
func TestResponsesAreLimitedToMaxBody(t *testing.T) {
	s := webhooktest.Start(t)
	clients, config := webhook.NewClients(nil), at(s.URL, s.CA)
	for _, chunked := range []bool{false, true} {
		for _, bytes := range []int{1, 1 << 20, 1<<20 + 1, 2<<20 + 1, webhook.MaxBody, webhook.MaxBody + 1} {
			s.Script(sized(bytes, chunked))
			body, err := call(clients, t.Context(), config, []byte("{}"))
			switch {
			case bytes > webhook.MaxBody:
				if err == nil || err.Error() != "the response is larger than 8 MiB" {
					t.Errorf("%d bytes, chunked %v: %v", bytes, chunked, err)
				}
			case err != nil || len(body) != bytes:
				t.Errorf("%d bytes, chunked %v: %v", bytes, chunked, err)
			}
		}
	}
}
