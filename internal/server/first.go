package server

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

// first are the settings of the objects that every cluster has.
func (c *Config) first(p ports, t *trust) bootstrap.Options {
	o := bootstrap.Options{
		SecurePort: p.secure.Addr().(*net.TCPAddr).Port, NodePort: c.NodePort, Shared: c.external(),
		Trust: func() bootstrap.Trust { return c.published(t) },
	}
	if c.Endpoints {
		o.Advertise, _ = netip.ParseAddr(cmp.Or(c.Advertise, c.Secure.Host)) // both are checked
	}
	return o
}

// published is what extension API servers are told to trust. The authority of a temporary directory ends with the
// process, so it is not added to a store that outlives it.
func (c *Config) published(t *trust) bootstrap.Trust {
	var b bootstrap.Trust
	if !c.external() || c.Dir != "" {
		b.Clients = t.own.PEM()
	} else if t.given != nil {
		b.Clients = t.given.PEM()
	}
	if t.proxies == nil {
		return b
	}
	x := &c.Access.Proxies
	b.Proxies = t.proxies.PEM()
	b.Names, b.UsernameHeaders, b.UIDHeaders = x.Names, x.UsernameHeaders, x.UIDHeaders
	b.GroupHeaders, b.ExtraPrefixes = x.GroupHeaders, x.ExtraPrefixes
	return b
}

// withdrawal bounds how long the end waits for a store that does not answer.
const withdrawal = 2 * time.Second

// withdraw removes the server's address from the endpoints of the service "kubernetes", after unkept is closed: they
// are no longer kept.
func (s *system) withdraw(unkept <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), withdrawal)
	defer cancel()
	select {
	case <-unkept:
	case <-ctx.Done():
	}
	if err := s.api.Withdraw(ctx, s.first); err != nil {
		s.log.Warn("failed to remove the server from the endpoints of the service kubernetes", "err", err)
	}
}
