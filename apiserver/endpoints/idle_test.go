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

// TestIdleWatch: a watch on which nothing happens for longer than a client may leave an answer unread
// goes on, and ends cleanly when its own time is over, with either version of HTTP.
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
				t.Fatalf("it speaks %s", resp.Proto)
			}
			if body, err := io.ReadAll(resp.Body); err != nil || len(body) > 0 {
				t.Errorf("the watch ended with %q and %v", body, err)
			}
		})
	}
}
