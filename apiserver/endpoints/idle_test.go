package endpoints_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestIdleWatchOutlivesWriteTimeout: a watch without events for longer than the write timeout continues, and ends
// cleanly at its own timeout, with either version of HTTP.
func TestIdleWatchOutlivesWriteTimeout(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = time.Second
	}})
	const path = configmaps + "?watch=1&timeoutSeconds=2"
	one, err := s.Client.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range []*http.Response{one, multiplexed(t, s)(path)} {
		if body := whole(t, res); len(body) > 0 {
			t.Errorf("%s: the watch ended with %q", res.Proto, body)
		}
	}
}
