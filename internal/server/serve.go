package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
)

// makeServers makes the HTTP servers of the ports; they do not serve yet.
func (s *Server) makeServers(t *apiserver.Trust) (err error) {
	p := &s.ports
	p.https = newHTTPServer(s.api.Handler(), s.log)
	p.https.ConnState = p.secure.observe
	options := s.config.TLS
	options.Clients = t.All()
	if p.https.TLSConfig, err = s.keys.TLS(options); err != nil {
		return fmt.Errorf("--tls-sni-cert-key: %w", err)
	}
	if p.insecure != nil {
		p.http = newHTTPServer(s.api.Insecure(), s.log)
	}
	return nil
}

func (s *Server) serve(context.Context) error {
	var serving sync.WaitGroup
	start := func(serve func() error) {
		serving.Go(func() {
			if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) {
				s.fail(fmt.Errorf("serving: %w", err))
			}
		})
	}
	p := &s.ports
	start(func() error { return p.https.ServeTLS(p.secure, "", "") })
	if p.http != nil {
		start(func() error { return p.http.Serve(p.insecure) })
	}
	s.addUndo(func() error { s.shutDown(); serving.Wait(); return nil })
	return nil
}

// shutDown ends watches, and completes requests in flight, up to the shutdown timeout; not if etcd has broken down.
func (s *Server) shutDown() {
	s.api.CloseWatches()
	s.ports.secure.draining.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Shutdown)
	defer cancel()
	if s.broken.Err() != nil {
		cancel()
	}
	start := time.Now()
	var all sync.WaitGroup
	for _, server := range []*http.Server{s.ports.https, s.ports.http} {
		if server == nil {
			continue
		}
		all.Go(func() {
			if err := server.Shutdown(ctx); err != nil {
				s.log.Warn("shutdown timeout: active requests were canceled", "err", err, "after", time.Since(start))
				_ = server.Close() // only errors of closing connections
			}
		})
	}
	all.Wait()
}
