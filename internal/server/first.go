package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers"
)

// first returns the settings of the objects that every cluster has.
func (c *Config) first(p *ports, t *apiserver.Trust) bootstrap.Options {
	o := bootstrap.Options{
		SecurePort: p.secure.Addr().(*net.TCPAddr).Port, NodePort: c.NodePort, Shared: c.external(),
		Trust: func() bootstrap.Trust { return c.published(t) },
	}
	if c.Endpoints {
		o.Advertise, _ = netip.ParseAddr(cmp.Or(c.Advertise, c.Secure.Host)) // both are checked
	}
	return o
}

// published returns the authorities that extension API servers trust. The authority of a temporary directory ends with
// the process, so it is not published in an external store, which outlives it.
func (c *Config) published(t *apiserver.Trust) bootstrap.Trust {
	var b bootstrap.Trust
	if !c.external() || c.Dir != "" {
		b.Clients = t.Own.PEM()
	} else if t.Given != nil {
		b.Clients = t.Given.PEM()
	}
	if t.Proxies == nil {
		if b.Proxies = t.Front; c.external() && c.Dir == "" {
			b.Proxies = nil
		}
		b.Names, b.UsernameHeaders, b.UIDHeaders = []string{pki.FrontProxy}, []string{"X-Remote-User"}, []string{"X-Remote-Uid"}
		b.GroupHeaders, b.ExtraPrefixes = []string{"X-Remote-Group"}, []string{"X-Remote-Extra-"}
		return b
	}
	x := &c.Access.RequestHeader
	b.Proxies = t.Proxies.PEM()
	b.Names, b.UsernameHeaders, b.UIDHeaders = x.AllowedNames, x.UsernameHeaders, x.UIDHeaders
	b.GroupHeaders, b.ExtraPrefixes = x.GroupHeaders, x.ExtraHeadersPrefix
	return b
}

// createFirst creates the objects that every cluster has, and those of --simulate-pods.
func (s *Server) createFirst(ctx context.Context) error {
	if s.config.readOnly() {
		return nil
	}
	client := s.client()
	if err := controllers.EnsureSystemNamespaces(ctx, client("", controllers.Server), s.log); err != nil {
		return fmt.Errorf("creating the system namespaces: %w", err)
	}
	if err := s.api.EnsureRoles(ctx); err != nil {
		return err
	}
	if err := s.api.EnsureFirst(ctx, s.first); err != nil {
		return err
	}
	if !s.config.Simulate {
		return nil
	}
	return controllers.EnsureSimulated(ctx, client("", controllers.Kubelet), s.config.NodesFile,
		s.config.Simulation.Nodes, s.log)
}

// checkFirst implements controllers.Process.CheckFirst. It ends when the server begins to end. So withdraw does not
// wait for a check that a slow store delays, and no later check adds the server's address again.
func (s *Server) checkFirst(ctx context.Context) error {
	if err := s.checking.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.checking.Release(1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	if s.life.Err() != nil {
		return nil
	}
	if err := s.api.CheckFirst(ctx, s.first); s.life.Err() == nil {
		return err
	}
	return nil
}

// withdrawal is the maximum time for which the end of the server waits for a store that does not respond.
const withdrawal = 2 * time.Second

// withdraw removes the server's address from the endpoints of the service "kubernetes", after the server has begun to
// end.
func (s *Server) withdraw() {
	if s.config.readOnly() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), withdrawal)
	defer cancel()
	err := s.checking.Acquire(ctx, 1)
	if err == nil {
		defer s.checking.Release(1)
		err = s.api.Withdraw(ctx, s.first)
	}
	if err != nil {
		s.log.Warn("failed to remove the server from the endpoints of the service kubernetes", "err", err)
	}
}
