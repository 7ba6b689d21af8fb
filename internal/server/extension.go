package server

import (
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/internal/ownership"
)

// extensions are the paths that kube-apiserver doesn't have, below render.RoutePrefix. Requests come when everything is
// assembled: handlers may then use s.api.
func (s *system) extensions(d *data) []render.Route {
	s.ownership = ownership.New(ownership.Config{
		Cache: d.cache, Types: d.types, Root: d.decoder.Root, Revision: d.store.Revision, Log: s.log, Now: d.clock.Now,
		Authorizer: func() authorization.Authorizer { return s.api.Authorizer() },
		Life:       s.life,
		Removed:    s.trail.RemovedAt, Queue: s.garbage.Queued,
	})
	routes := append(s.ownership.Routes(), s.settledRoute(), s.snapshotsRoute(d),
		s.checkpointsRoute(), s.rollbackRoute(),
		ownership.Trail(s.trail, func() authorization.Authorizer { return s.api.Authorizer() }, s.log))
	if s.c.Snapshot.File != "" {
		s.reports = &reports{path: s.c.Snapshot.File, life: s.life,
			options: backup.Options{Prefix: s.c.Storage.Root, Encryption: s.c.encryption}}
		routes = append(routes, s.reports.route(s.log))
	}
	return routes
}
