package apiserver

import (
	"context"

	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

// EnsureRoles is bootstrap.Roles on this server.
func (s *Server) EnsureRoles(ctx context.Context) error { return bootstrap.Roles(ctx, s.registry) }

// EnsureFirst is bootstrap.Objects on this server.
func (s *Server) EnsureFirst(ctx context.Context, o bootstrap.Options) error {
	return bootstrap.Objects(ctx, s.registry, o)
}

// CheckFirst is bootstrap.Check on this server.
func (s *Server) CheckFirst(ctx context.Context, o bootstrap.Options) error {
	return bootstrap.Check(ctx, s.registry, o)
}

// Withdraw is bootstrap.Withdraw on this server.
func (s *Server) Withdraw(ctx context.Context, o bootstrap.Options) error {
	return bootstrap.Withdraw(ctx, s.registry, o)
}
