package drive

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// transport responds to requests in this process.
type transport func(*http.Request) (code int, body string)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	code, body := f(r)
	return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestDefineWaitsOnceForMissingCollector: define waits once for a server without a collector, not once for each kind.
// It does not wait if the server is known to have none. If there is a collector, define waits until it knows the last
// kind.
func TestDefineWaitsOnceForMissingCollector(t *testing.T) {
	for name, c := range map[string]struct {
		idle bool
		// knows is the time after which the collector knows all kinds; 0 means never.
		knows, want time.Duration
		wantIdle    bool
	}{
		"no collector":         {want: knownWithin, wantIdle: true},
		"none, as it is known": {idle: true, wantIdle: true},
		"a collector":          {knows: 30 * time.Second, want: 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				client := &http.Client{Transport: transport(func(r *http.Request) (int, string) {
					switch {
					case r.Method == http.MethodPost:
						return http.StatusCreated, "{}"
					case strings.HasSuffix(r.URL.Path, "known") && c.knows > 0 && time.Since(began) >= c.knows:
						return http.StatusNotFound, "{}"
					}
					return http.StatusOK, "{}"
				})}
				_, s := session(t.Context(), Server{URL: "http://server", Client: client, Idle: c.idle}, "p-", model.Kinds)
				defer s.Close()
				if err := s.define(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took < c.want || took > c.want+2*time.Second || s.Idle != c.wantIdle {
					t.Errorf("it took %v, idle %v", took, s.Idle)
				}
			})
		})
	}
}
