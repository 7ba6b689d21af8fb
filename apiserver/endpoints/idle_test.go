package endpoints_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestIdleWatch: a watch without events for longer than the write timeout continues, and ends cleanly at its own
// timeout, with either version of HTTP.
func TestIdleWatch(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = time.Second
	}})
	two := httptest.NewUnstartedServer(s.API.Insecure())
	two.EnableHTTP2 = true
	two.StartTLS()
	t.Cleanup(two.Close)
	for proto, c := range map[string]struct {
		url    string
		client *http.Client
	}{"HTTP/1.1": {s.URL, s.Client}, "HTTP/2.0": {two.URL, two.Client()}} {
		t.Run(proto, func(t *testing.T) {
			resp, err := c.client.Get(c.url + configmaps + "?watch=1&timeoutSeconds=2")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.Proto != proto {
				t.Fatalf("the protocol is %s", resp.Proto)
			}
			if body, err := io.ReadAll(resp.Body); err != nil || len(body) > 0 {
				t.Errorf("the watch ended with %q and %v", body, err)
			}
		})
	}
}
