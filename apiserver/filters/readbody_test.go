package filters

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

// connection counts calls of SetReadDeadline.
type connection struct {
	http.ResponseWriter
	deadlines int
}

// SetReadDeadline is called by http.ResponseController.
func (c *connection) SetReadDeadline(time.Time) error {
	c.deadlines++
	return nil
}

// TestDeadlineOfBodies: a body must be read within the time of its request. Without a body, reads have no deadline,
// because net/http would treat a missed one as a disconnected client.
func TestDeadlineOfBodies(t *testing.T) {
	h := ReadBody(slog.New(slog.DiscardHandler))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for body, want := range map[string]int{"": 0, "{}": 1} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodDelete, "/api/v1/namespaces/a/pods/x", strings.NewReader(body))
		r = requestinfo.With(r, authorization.User{})
		if err := requestinfo.Of(r).Parse(r); err != nil {
			t.Fatal(err)
		}
		c := &connection{ResponseWriter: httptest.NewRecorder()}
		if h.ServeHTTP(c, r); c.deadlines != want {
			t.Errorf("%q: %d deadlines, want %d", body, c.deadlines, want)
		}
	}
}
