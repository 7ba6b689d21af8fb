package filters_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/filters"
)

// TestOnlyHTTP2ConnectionsAreClosedByChance: they are closed with the configured probability.
func TestOnlyHTTP2ConnectionsAreClosedByChance(t *testing.T) {
	var next float64
	empty := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	h := filters.Goaway(0.25, func() float64 { return next })(empty)
	for _, c := range []struct {
		major  int
		random float64
		want   string
	}{{2, 0.2, "close"}, {2, 0.25, ""}, {2, 0.9, ""}, {1, 0.2, ""}} {
		r := httptest.NewRequest("GET", "/", nil)
		r.ProtoMajor = c.major
		next = c.random
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Connection"); got != c.want {
			t.Errorf("HTTP/%d, %v: %q", c.major, c.random, got)
		}
	}
}
