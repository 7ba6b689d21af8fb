package apiserver

import (
	"math/rand/v2"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/filters"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/ui"
)

// Handler returns the handler of the secure port, on which clients authenticate. The files of the web UI need no
// authentication: all users get the same files, and a browser without a certificate needs them for the token form.
func (s *Server) Handler() http.Handler {
	own := filters.NoForeignCertificates(s.config.Log)
	return s.measured(own(s.page(filters.StripSlash(s.routes(s.users.Secure)))))
}

// Insecure returns the handler of the plain port on the loopback interface. There, clients without credentials are
// administrators, as with kubectl proxy.
func (s *Server) Insecure() http.Handler {
	own := filters.OwnOrigin(s.config.Log)
	return s.measured(own(s.page(filters.StripSlash(s.routes(s.users.Plain)))))
}

// page adds the web UI, if it is served.
func (s *Server) page(h http.Handler) http.Handler {
	if !s.config.Page {
		return h
	}
	return ui.Page(h)
}

// measured adds the outermost filters, which record all requests and limit their time.
func (s *Server) measured(h http.Handler) http.Handler {
	h = filters.Body(codec.MaxBody, s.config.RequestTimeout)(h)
	return filters.Measure(s.metrics, s.config.Log, s.config.WriteTimeout)(h)
}

// use wraps all routes in the filters, the outermost first.
func (s *Server) use(r chi.Router, users filters.Authenticator) {
	log := s.config.Log
	r.Use(
		filters.Goaway(s.config.GoawayChance, rand.Float64),
		filters.NoCache,
		filters.Recover(s.metrics, log),
		filters.Authenticate(users, s.config.Proxies, s.inFlight, s.config.Audit, log),
		filters.RequestInfo(log),
	)
	if s.config.Audit != nil {
		r.Use(filters.Audit(s.config.Audit, log))
	}
	r.Use(filters.Impersonate(s.registry.Authorizer, log))
	if s.config.Audit != nil || !filters.AllowsAll(s.config.Modes) { // the audit log has the decision
		r.Use(filters.Authorize(s.registry.Authorizer, log))
	}
}

// gatherer returns the gatherer of this server's metrics, with those of the audit log if there is one.
func (s *Server) gatherer() prometheus.Gatherer {
	if s.config.Audit == nil {
		return s.config.Registry
	}
	return prometheus.Gatherers{s.config.Registry, audit.Gatherer}
}

// routes returns the handlers of all paths.
func (s *Server) routes(users filters.Authenticator) chi.Router {
	r := chi.NewRouter()
	s.use(r, users)
	r.NotFound(http.NotFound)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		if !r.Match(chi.NewRouteContext(), http.MethodGet, req.URL.Path) { // chi checks methods first
			http.NotFound(w, req)
			return
		}
		render.Error(s.config.Log, w, req, status.ErrNoMethod)
	})

	for _, e := range []endpoint{allChecks, liveChecks, readyChecks} {
		for _, path := range []string{"/" + e.name, "/" + e.name + "/{check}"} {
			r.Handle(path, s.health(e)) // for any method, as upstream's
		}
	}
	r.Get("/version", s.version)
	r.Group(s.seated)
	s.extensions(r, true)
	r.Group(s.resources)
	return r
}

// resources adds the paths of resources.
func (s *Server) resources(r chi.Router) {
	r.Use(
		s.served,
		s.api.Resolve,
		filters.Timeout(s.config.RequestTimeout, registry.LongRunning, s.config.Log),
		filters.ReadBody(s.config.Log),
		s.api.Fault,
		filters.Seat(s.seats, s.metrics, s.api.Listed, s.config.Log),
	)
	r.Handle("/api/{version}/*", s.api)
	r.Handle("/apis/{group}/{version}/*", s.api)
}

// seated adds the non-resource paths whose requests wait for a seat.
func (s *Server) seated(r chi.Router) {
	r.Use(filters.Seat(s.seats, s.metrics, func(*http.Request) int { return 0 }, s.config.Log))
	r.HandleFunc("/", s.paths)
	r.Get("/.well-known/openid-configuration", s.openID)
	r.Get("/openid/v1/jwks", s.openID)
	r.Handle("/metrics", s.metrics.Handler(s.gatherer()))
	r.Get(render.IndexPath(), render.Index(s.config.Extensions, s.config.Log))
	for path, h := range s.config.Debug {
		r.Handle(path, h)
	}
	s.zpages(r)
	s.extensions(r, false)
	// For any method, as upstream's (kube-openapi pkg/handler, pkg/handler3).
	r.Handle("/openapi/v2", s.documents(s.openAPI.V2()))
	r.Handle("/openapi/v3", s.documents(s.openAPI.V3()))
	r.Handle("/openapi/v3/*", s.documents(s.openAPI.V3()))

	d := s.resourceLists
	for _, path := range []string{"/api", "/api/", "/apis", "/apis/"} {
		r.Get(path, d.ServeHTTP)
	}
	for _, path := range []string{"/api/{version}", "/apis/{group}", "/apis/{group}/{version}"} {
		r.Get(path, s.discovery)
		r.Get(path+"/", s.discovery)
	}
}

// extensions adds the paths that kube-apiserver doesn't have: either those of long-running requests, or the others.
func (s *Server) extensions(r chi.Router, longRunning bool) {
	for _, e := range s.config.Extensions {
		if e.LongRunning == longRunning {
			r.Handle(e.Pattern(), e.Handler(s.config.Log))
		}
	}
}

// served forwards requests for group versions of other servers, and responds to those for unserved group versions.
func (s *Server) served(next http.Handler) http.Handler {
	forwarded := s.forwarded()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := requestinfo.Of(r)
		if s.ours(i.APIGroup, i.APIVersion) {
			next.ServeHTTP(w, r)
			return
		}
		forwarded.ServeHTTP(w, r)
	})
}
