package apiserver

import (
	"context"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

// EnsureRoles is bootstrap.Roles on this server.
func (s *Server) EnsureRoles(ctx context.Context) error { return bootstrap.Roles(ctx, s.registry) }

// EnsureFirst is bootstrap.Objects on this server.
func (s *Server) EnsureFirst(ctx context.Context, securePort int) error {
	return bootstrap.Objects(ctx, s.registry, securePort)
}

// KeepService is bootstrap.KeepService on this server.
func (s *Server) KeepService(ctx context.Context, securePort int, interval time.Duration) {
	bootstrap.KeepService(ctx, s.registry, securePort, interval)
}
