package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/internal/checkpoint"
)

// Server is a running server. Its methods may be called from any goroutine.
type Server struct {
	lifecycle
	config *Config
	log    *slog.Logger
	ports  ports
	// report reads the content of the snapshot, once; nil without a snapshot.
	report     func() (*backup.Report, error)
	audit      *audit.Log
	data       *data
	keys       *pki.Bundle
	kubeconfig string
	api        *apiserver.Server
	// first has the settings of the objects that each cluster has.
	first bootstrap.Options
	// checking is held while the objects of first are checked, and while the server's address is withdrawn.
	checking *semaphore.Weighted
	// trail has the last removals.
	trail *trail.Trail
	control
}

// Start starts a server. ctx only limits the start.
func Start(ctx context.Context, c Config) (*Server, error) {
	broken, fatal := context.WithCancelCause(context.Background())
	return startWith(ctx, c, broken, fatal)
}

// startWith is Start with the context "broken", which ends when etcd breaks down and calls fatal.
func startWith(ctx context.Context, c Config, broken context.Context, fatal context.CancelCauseFunc) (*Server, error) {
	s := &Server{config: &c, log: c.Log, lifecycle: newLifecycle(broken, fatal),
		checking: semaphore.NewWeighted(1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(broken, cancel)()
	for _, start := range []func(context.Context) error{
		s.readFiles, s.openPorts, s.openSnapshot, s.openAuditLog, s.openData, s.readKeys, s.makeAPI, s.createFirst,
		s.startControllers, s.serve, s.keepKubeconfig,
	} {
		if err := start(ctx); err != nil {
			if broken.Err() != nil {
				err = context.Cause(broken)
			}
			s.end()
			return nil, errors.Join(err, s.undoAll())
		}
	}
	go s.await()
	return s, nil
}

// readFiles reads the files of the settings, before anything is created.
func (s *Server) readFiles(context.Context) error {
	c := s.config
	if err := c.checkKubeconfig(); err != nil {
		return err
	}
	var err error
	if c.NodesFile != "" { // a mistake in the file prevents the start
		c.Simulation.Nodes, err = simulation.ReadNodes(c.NodesFile)
	}
	return errors.Join(err, c.readEncryption())
}

func (s *Server) openAuditLog(context.Context) (err error) {
	if s.audit, err = audit.Open(s.config.Audit, s.log); err == nil {
		s.addUndo(s.audit.Close)
	}
	return err
}

// readKeys reads or makes the keys in the data directory, which is locked: no other process may use them.
func (s *Server) readKeys(context.Context) (err error) {
	s.keys, err = pki.Ensure(pki.Options{
		Dir: filepath.Join(s.data.dir.path, "pki"), Hosts: s.config.hosts(), Log: s.log,
		CertFile: s.config.CertFile, KeyFile: s.config.KeyFile,
	})
	return err
}

// keepKubeconfig writes the kubeconfig, and writes it again when its certificate is renewed.
func (s *Server) keepKubeconfig(context.Context) error {
	if s.kubeconfig = s.config.Kubeconfig; s.kubeconfig == "" {
		s.kubeconfig = filepath.Join(s.data.dir.path, "admin.kubeconfig")
	}
	write := func() error {
		return s.keys.WriteKubeconfig(s.kubeconfig, s.config.KubeconfigMode, s.ports.externalURL(s.config.ExternalHostname))
	}
	if err := write(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var renewal sync.WaitGroup
	renewal.Go(func() { s.keys.RenewDaily(ctx, write) })
	s.addUndo(func() error { stop(); renewal.Wait(); return nil })
	return nil
}

// await waits until the server is stopped or fails, and ends it. A server that is stopped still serves for the time of
// --shutdown-delay-duration, so that load balancers notice (AS pkg/server/genericapiserver.go: RunWithContext).
func (s *Server) await() {
	err := s.until(s.stopping)
	s.end()
	if err == nil {
		s.api.BeginShutdown()
		s.withdraw()
		delay, cancel := context.WithTimeout(context.Background(), s.config.Delay)
		err = s.until(delay.Done())
		cancel()
	}
	s.err = errors.Join(err, s.undoAll())
	close(s.ended)
}

// abandons reports whether the embedded etcd has broken down: requests to it may wait forever, so an orderly end is not
// possible. All acknowledged writes are on disk.
func (s *Server) abandons() bool { return s.broken.Err() != nil && !s.config.external() }

// Advance advances the clock of controllers, and of the times in objects.
func (s *Server) Advance(d time.Duration) error { return s.data.clock.Advance(d) }

// Now returns the time by that clock.
func (s *Server) Now() time.Time { return s.data.clock.Now() }

// URL returns the URL of the secure port.
func (s *Server) URL() string { return s.ports.secureURL() }

// InsecureURL returns the URL of the insecure port; empty if there is none.
func (s *Server) InsecureURL() string { return s.ports.insecureURL() }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (s *Server) Kubeconfig() string { return s.kubeconfig }

// Authority returns the certificate of the server's authority in PEM.
func (s *Server) Authority() []byte { return s.keys.AuthorityPEM() }

// Administrator returns the present certificate and key of the administrator in PEM.
func (s *Server) Administrator() (cert, key []byte, err error) { return s.keys.ClientPEM() }

// Checkpoint calls checkpoint.Checkpoints.Make.
func (s *Server) Checkpoint(ctx context.Context, name string) (*checkpoint.Result, error) {
	return s.checkpoints.Make(ctx, name)
}

// Rollback calls checkpoint.Checkpoints.Rollback.
func (s *Server) Rollback(ctx context.Context, name string) (*checkpoint.Result, error) {
	return s.checkpoints.Rollback(ctx, name)
}
