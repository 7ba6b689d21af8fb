package server

import (
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// extensions are the paths that kube-apiserver doesn't have, below render.RoutePrefix. Requests come when everything is
// assembled: handlers may then use s.api.
func (s *system) extensions(d *data) []render.Route {
	by := func() authorization.Authorizer { return s.api.Authorizer() }
	questions := (&cluster.Server{
		Cache: d.cache, Types: d.types, Revision: d.store.Revision, Authorizer: by, Removed: s.trail.RemovedAt,
		Queue: s.garbage.Queued,
	}).Service()
	questions.Log, questions.Now, questions.Life = s.log, d.clock.Now, s.life
	routes := append(questions.Routes(), s.settledRoute(), s.snapshotsRoute(d), s.checkpointsRoute(), s.rollbackRoute(),
		cluster.Trail(s.trail, by, s.log))
	if s.c.Snapshot.File != "" {
		s.reports = &reports{path: s.c.Snapshot.File, life: s.life,
			options: backup.Options{Prefix: s.c.Storage.Root, Encryption: s.c.encryption}}
		routes = append(routes, s.reports.route(s.log))
	}
	return routes
}
