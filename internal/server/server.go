package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/pki"
)

// Server is a running server. Its methods may be called from any goroutine.
type Server struct {
	config     *Config
	log        *slog.Logger
	ports      ports
	keys       *pki.Bundle
	kubeconfig string
	data       *data
	system     *system

	// undo are the functions that end what was started, in the order of the starts.
	undo []func() error
	// request closes stopping, upon which the server ends.
	request  func()
	stopping chan struct{}
	// failed receives the first error that ends the server.
	failed chan error
	// broken is done after storage.Config.Fatal was called; its cause is the error.
	broken context.Context
	// ended is closed when all has ended, after err was set.
	ended chan struct{}
	err   error
}

// Start starts a server: the ports, the audit log, the storage and cache, the API, and the controllers, in this order.
// The keys are read after the data directory was locked, because no other process may use their directory. ctx only
// limits the start.
func Start(ctx context.Context, c Config) (*Server, error) {
	broken, fatal := context.WithCancelCause(context.Background())
	return startWith(ctx, c, broken, fatal)
}

// startWith is Start with the function that etcd calls when it breaks down, which ends the context.
func startWith(ctx context.Context, c Config, broken context.Context, fatal func(error)) (*Server, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	s := &Server{config: &c, log: c.Log, broken: broken, stopping: make(chan struct{}), failed: make(chan error, 1),
		ended: make(chan struct{})}
	s.request = sync.OnceFunc(func() { close(s.stopping) })
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(broken, cancel)
	defer stop()
	if err := s.start(ctx, fatal); err != nil {
		if broken.Err() != nil {
			err = context.Cause(broken)
		}
		return nil, errors.Join(err, s.end())
	}
	go s.run()
	return s, nil
}

// start starts everything; end ends what it has started if it fails.
func (s *Server) start(ctx context.Context, fatal func(error)) (err error) {
	if err := s.config.checkKubeconfig(); err != nil {
		return err
	}
	if err := errors.Join(s.config.readNodes(), s.config.readEncryption()); err != nil {
		return err
	}
	if s.ports, err = s.config.listen(); err != nil {
		return err
	}
	s.then(func() error { s.ports.close(); return nil })
	if err := s.openSnapshot(); err != nil {
		return err
	}
	events, err := audit.Open(s.config.Audit, s.log)
	if err != nil {
		return err
	}
	s.then(events.Close)
	dir, err := s.config.openDirectory()
	if err != nil {
		return err
	}
	s.then(func() error { dir.release(); return nil })
	if s.data, err = openData(ctx, s.config, dir, s.log, fatal); err != nil {
		return err
	}
	s.then(s.closeData)
	s.keys, err = pki.Ensure(pki.Options{
		Dir: filepath.Join(dir.path, "pki"), Hosts: s.config.hosts(), Log: s.log,
		CertFile: s.config.CertFile, KeyFile: s.config.KeyFile,
	})
	if err != nil {
		return err
	}
	if s.system, err = assemble(s.config, s.data, s.keys, s.ports, events, s.log); err != nil {
		return err
	}
	stop, err := s.system.start(ctx, s.fail)
	if err != nil {
		return err
	}
	s.then(func() error { stop(s.broken.Err() == nil, s.abandons()); return nil })
	if err := s.writeKubeconfig(dir.path); err != nil {
		return err
	}
	renewing, stopRenewing := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	renewal.Go(func() { s.renewDaily(renewing) })
	s.then(func() error { stopRenewing(); renewal.Wait(); return nil })
	return nil
}

// then adds a function that ends what was just started.
func (s *Server) then(undo func() error) { s.undo = append(s.undo, undo) }

// end ends everything in the reverse order.
func (s *Server) end() (err error) {
	for _, f := range slices.Backward(s.undo) {
		err = errors.Join(err, f())
	}
	return err
}

// fail ends the server with an error. Only the first one counts.
func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// run waits until the server is stopped or fails, and ends it. A server that is stopped still serves for the time of
// --shutdown-delay-duration, so that load balancers notice (AS pkg/server/genericapiserver.go: RunWithContext).
func (s *Server) run() {
	err := s.await(s.stopping)
	s.system.end()
	if err == nil {
		s.system.leave()
		delay, cancel := context.WithTimeout(context.Background(), s.config.Delay)
		err = s.await(delay.Done())
		cancel()
	}
	s.err = errors.Join(err, s.end())
	close(s.ended)
}

// await waits until the channel is closed, or returns the error with which the server ends by itself.
func (s *Server) await(closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case err := <-s.failed:
		return err
	case err := <-s.data.failed:
		return err
	case <-s.broken.Done():
		return context.Cause(s.broken)
	}
}

// abandons reports whether the embedded etcd has broken down: requests to it may wait forever, and so would an orderly
// end. All acknowledged writes are on disk.
func (s *Server) abandons() bool { return s.broken.Err() != nil && !s.config.external() }

func (s *Server) closeData() error {
	if s.abandons() {
		s.data.stop()
		return nil
	}
	return s.data.close()
}

// Stop ends the server, waits for it, and returns Err.
func (s *Server) Stop() error {
	s.request()
	<-s.ended
	return s.err
}

// Advance puts the clock of controllers and of the times in objects forward.
func (s *Server) Advance(d time.Duration) error { return s.data.clock.Advance(d) }

// Now is the time by that clock.
func (s *Server) Now() time.Time { return s.data.clock.Now() }

// Done is closed when the server has ended, whether or not Stop was called.
func (s *Server) Done() <-chan struct{} { return s.ended }

// Err is the error with which the server has ended; nil while it runs.
func (s *Server) Err() error {
	select {
	case <-s.ended:
		return s.err
	default:
		return nil
	}
}

// URL is that of the secure port.
func (s *Server) URL() string { return s.ports.secureURL() }

// InsecureURL is that of the insecure port; empty if there is none.
func (s *Server) InsecureURL() string { return s.ports.insecureURL() }

// Kubeconfig is the path of the administrator's kubeconfig.
func (s *Server) Kubeconfig() string { return s.kubeconfig }

// Authority is the certificate of the server's authority in PEM. Administrator returns the present certificate and key
// of the administrator in PEM.
func (s *Server) Authority() []byte { return s.keys.AuthorityPEM() }

// Administrator returns the present certificate and key of the administrator in PEM.
func (s *Server) Administrator() (cert, key []byte, err error) { return s.keys.ClientPEM() }

func (s *Server) writeKubeconfig(dir string) error {
	if s.kubeconfig = s.config.Kubeconfig; s.kubeconfig == "" {
		s.kubeconfig = filepath.Join(dir, "admin.kubeconfig")
	}
	return s.renewKubeconfig()
}

// renewKubeconfig writes the kubeconfig with the present certificate.
func (s *Server) renewKubeconfig() error {
	return s.keys.WriteKubeconfig(s.kubeconfig, s.config.KubeconfigMode, s.ports.externalURL(s.config.ExternalHostname))
}

// renewDaily renews certificates that are due and writes the kubeconfig again, until ctx is done.
func (s *Server) renewDaily(ctx context.Context) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-day.C:
		}
		_, err := s.keys.Renew()
		if err = errors.Join(err, s.renewKubeconfig()); err != nil {
			s.log.Warn("failed to renew certificates", "err", err)
		}
	}
}
