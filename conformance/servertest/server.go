package servertest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/loopback"
)

// Start returns the URL of a server.
func Start(t testing.TB) string { return Slow(t, 0) }

// slow is a collector whose deletions take their time.
type slow struct {
	*loopback.Collector
	pause time.Duration
}

// Delete implements gc.API.
func (s *slow) Delete(ctx context.Context, d gc.DeleteRequest) error {
	select {
	case <-time.After(s.pause):
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Collector.Delete(ctx, d)
}

// Slow returns the URL of a server whose collector pauses before each deletion.
func Slow(t testing.TB, pause time.Duration) string {
	t.Helper()
	adapter := &slow{&loopback.Collector{}, pause}
	var collector *gc.Collector
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		collector = gc.New(gc.Config{API: adapter, Timeline: c.Cache, Kinds: adapter, Root: c.Decoder.Root, Log: c.Log})
	}})
	adapter.API = s.API.Loopback(authorization.ServiceAccount("kube-system", "generic-garbage-collector"), "test")
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	definitions := controllers.NewCustomResourceDefinitions(
		&loopback.Client{API: s.API.Loopback(authorization.Loopback, "kube-apiserver"), Cache: s.Cache}, s.Webhooks,
		nil,
	)
	done.Go(func() { definitions.Run(ctx) })
	done.Go(func() {
		if err := collector.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the collector ended: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return s.URL
}

// Client returns a client that keeps enough connections.
func Client(t testing.TB) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
