package server

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/internal/checkpoint"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// extensions returns the paths that kube-apiserver doesn't have, below render.RoutePrefix. Their handlers run only
// after everything is assembled.
func (s *Server) extensions() []render.Route {
	d, by := s.data, func() authorization.Authorizer { return s.api.Authorizer() }
	questions := (&cluster.Server{
		Cache: d.cache, Types: d.types, Revision: d.store.Revision, Authorizer: by, Removed: s.trail.RemovedAt,
		Queue:  s.garbage.Queued,
		Others: func() ([]metav1.APIResource, []schema.GroupVersion) { return s.api.Aggregator().Resources() },
		As:     func(u authorization.User) *http.Client { return s.api.Aggregator().Client(u) },
	}).Service()
	questions.Log, questions.Now, questions.Life = s.log, d.clock.Now, s.life
	routes := append(questions.Routes(), cluster.Trail(s.trail, by, s.log), s.settledRoute(), s.saveRoute(),
		s.checkpointRoute("checkpoints", s.Checkpoint), s.checkpointRoute("rollback", s.Rollback))
	if s.report != nil {
		routes = append(routes, render.Route{Path: "snapshot", Serve: render.Answer(s.log, func(*http.Request) (any, error) {
			return s.report()
		})})
	}
	return routes
}

// checkpointRoute returns a route whose POST calls do with the name of the query.
func (s *Server) checkpointRoute(
	path string, do func(ctx context.Context, name string) (*checkpoint.Result, error),
) render.Route {
	return render.Route{Path: path, Methods: []string{http.MethodPost}, LongRunning: true,
		Serve: render.Answer(s.log, func(r *http.Request) (any, error) {
			return do(r.Context(), requestinfo.Query(r).Get("name"))
		})}
}
