package apiserver

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/warning"
)

// Handler returns the whole API for clients that authenticate (the secure port).
func (s *Server) Handler() http.Handler { return s.begin(stripSlash(s.routes(s.whoAsks))) }

// Insecure returns the same for the plain port on the loopback interface, where everybody is an
// administrator who doesn't say otherwise, as with kubectl proxy.
func (s *Server) Insecure() http.Handler {
	return s.begin(s.ownOrigin(stripSlash(s.routes(s.whoAsksPlainly))))
}

// askedPathKey is for the path as the client wrote it, with the slashes that stripSlash has taken off.
type askedPathKey struct{}

// stripSlash takes slashes off the end of the path, in both forms in which the request has it
// (go-restful tokenizePath).
func stripSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.EscapedPath(); len(p) > 1 && strings.HasSuffix(p, "/") {
			u := *r.URL
			n := len(p) - len(strings.TrimRight(p, "/")) // none of them is escaped
			n = min(n, len(p)-1)
			u.Path, u.RawPath = u.Path[:len(u.Path)-n], u.RawPath[:max(len(u.RawPath)-n, 0)]
			r = r.WithContext(context.WithValue(r.Context(), askedPathKey{}, r.URL.Path))
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) routes(who authenticator) chi.Router {
	r := chi.NewRouter()
	r.Use(s.audit, noCache, s.recoverPanics, s.authenticate(who), s.impersonate, s.countHead, s.authorize)
	r.NotFound(http.NotFound)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		if !r.Match(chi.NewRouteContext(), http.MethodGet, req.URL.Path) { // chi looks at unknown methods first
			http.NotFound(w, req)
			return
		}
		s.writeError(w, req, status.ErrNoMethod)
	})

	for _, e := range []endpoint{allChecks, liveChecks, readyChecks} {
		for _, path := range []string{"/" + e.name, "/" + e.name + "/{check}"} {
			r.Handle(path, s.health(e)) // of any method, as upstream's
		}
	}
	r.Get("/version", s.version)

	r.Group(func(r chi.Router) {
		r.Use(s.seated)
		r.HandleFunc("/", s.paths)
		r.Get("/.well-known/openid-configuration", s.openID)
		r.Get("/openid/v1/jwks", s.openID)
		r.Handle("/metrics", s.metrics.Handler(s.config.Registry))
		for path, h := range s.config.Debug {
			r.Handle(path, h)
		}
		// Of any method, as upstream's (kube-openapi pkg/handler, pkg/handler3).
		r.Handle("/openapi/v2", s.documents(s.config.OpenAPI.V2()))
		r.Handle("/openapi/v3", s.documents(s.config.OpenAPI.V3()))
		r.Handle("/openapi/v3/*", s.documents(s.config.OpenAPI.V3()))

		d := s.config.Discovery
		for _, path := range []string{"/api", "/api/", "/apis", "/apis/"} {
			r.Get(path, d.ServeHTTP)
		}
		for _, path := range []string{"/api/{version}", "/apis/{group}", "/apis/{group}/{version}"} {
			r.Get(path, s.discovery)
			r.Get(path+"/", s.discovery)
		}
	})
	r.HandleFunc("/api/{version}/*", s.resource)
	r.HandleFunc("/apis/{group}/{version}/*", s.resource)
	return r
}

// documents serves OpenAPI documents of the types as they are now.
func (s *Server) documents(h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.documented.Lock()
		if g := s.registry.Types.Generation(); g != s.documented.generation {
			s.documented.generation = g
			s.config.OpenAPI.Invalidate()
		}
		s.documented.Unlock()
		h.ServeHTTP(w, r)
	}
}

// discovery answers for a group or version that is served; for others /api gives a Status and
// /apis, as there the group's handler itself is missing, a plain 404.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	group, version := chi.URLParam(r, "group"), chi.URLParam(r, "version")
	if s.serves(group, version) {
		s.config.Discovery.ServeHTTP(w, r)
		return
	}
	s.unserved(w, r, group, version)
}

// unserved answers for a group version that isn't served.
func (s *Server) unserved(w http.ResponseWriter, r *http.Request, group, version string) {
	var none error
	if s.serves(group, "") {
		none = status.ErrNoRoute
	}
	if err := s.missing(group, version, none); err != nil {
		s.writeError(w, r, err)
		return
	}
	http.NotFound(w, r)
}

// serves reports whether the group version is served; an empty version asks for the group.
func (s *Server) serves(group, version string) bool {
	for _, g := range s.registry.Types.Groups() {
		if g.Name != group {
			continue
		}
		if version == "" {
			return true
		}
		for _, v := range g.Versions {
			if v == version {
				return true
			}
		}
	}
	return false
}

// resource serves everything below a group version.
func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	group, version := chi.URLParam(r, "group"), chi.URLParam(r, "version")
	if !s.serves(group, version) {
		s.unserved(w, r, group, version)
		return
	}
	segments := 2
	if group != "" {
		segments = 3
	}
	warn := &warning.List{}
	t, err := registry.Resolve(s.registry.Types, group, version, afterSegments(r.URL.EscapedPath(), segments))
	if err == nil {
		err = s.dispatch(w, r, t, warn)
	}
	if err != nil {
		writeWarnings(w.Header(), warn) // a failure is warned of, too (0-12)
		s.writeError(w, r, err)
	}
}

// afterSegments cuts the first n segments off a path.
func afterSegments(path string, n int) string {
	for ; n > 0; n-- {
		i := strings.IndexByte(path[1:], '/')
		if i < 0 {
			return ""
		}
		path = path[i+1:]
	}
	return path
}

// dispatch picks the verb for a method, as Kubernetes' request info does.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, t registry.Target, warn *warning.List) error {
	verb := verbOf(r, t)
	s.observe(r, t, verb)
	if err := s.authorizeTarget(r, t, verb); err != nil {
		return err
	}
	limit, err := s.limit(r, verb)
	if err == nil {
		err = servable(r, t, verb)
	}
	if err != nil {
		return err
	}
	return s.run(&request{Operation: registry.Operation{Target: t, User: userOf(r), Warn: warn}, verb: verb, w: w, r: r, s: s}, limit)
}

// servable is nil if there is something that the request is for.
func servable(r *http.Request, t registry.Target, verb string) error {
	if t.Subresource != nil && t.Subresource.Action == resources.Unserved && (t.Subresource.Has(verb) || t.Subresource.Name == "proxy") {
		if exchange.Query(r).Get("dryRun") != "" && t.Subresource.Name != "log" { // B-70
			return status.BadRequest("dryRun is not supported")
		}
		return status.ErrNeedsKubelet
	}
	switch {
	case t.Serves(verb):
	case verb == "watch" && !t.Watch && t.Resource.Has("list"): // AS handlers/get.go:handleWatch
		return apierrors.NewMethodNotSupported(t.Resource.GroupResource(), verb)
	case t.Name != "" && t.Subresource == nil && !t.Named(), t.Watch && !t.Resource.Has("watch"):
		return status.ErrNoRoute // what can only be created has no paths with names, and not all is watched
	default:
		return status.ErrNoMethod
	}
	return render.Routable(r, t, verb)
}

// run serves a request within the time that it may take; 0 is any.
func (s *Server) run(q *request, limit time.Duration) error {
	rec := exchange.Of(q.r)
	rec.CountIn(s.unread.Of(q.User), q.User.Name)
	// Of reads, too: what was sent along is read before the answer begins, or its deadline would end that.
	if q.mediaServed() {
		var release func()
		var err error
		unused := q.verb == "get" || q.verb == "list" || q.verb == "watch" // a watch would hold it
		q.r, q.held, release, err = s.intake.Take(q.r, q.User, unused)
		if err != nil {
			return err
		}
		defer release()
	}
	rec.HeadRead()
	if q.Resource.Deprecated != "" {
		q.Warn.Add(q.Resource.Deprecated)
	}
	if limit > 0 { // the wait for a seat counts (AS pkg/server/config.go: DefaultBuildHandlerChain)
		ctx, cancel := exchange.WithTimeout(q.r.Context(), limit)
		defer cancel()
		q.r = q.r.WithContext(ctx)
	}
	defer func() { q.lease.Release() }()
	if err := s.charge(q); err != nil {
		return err
	}
	return s.serve(q)
}

// limit is how long a request may take: as long as the server lets it (0-13) or, if that is less, as the
// client says; 0 means that nobody says (AS endpoints/filters/request_deadline.go).
func (s *Server) limit(r *http.Request, verb string) (time.Duration, error) {
	if verb == "watch" {
		return 0, nil
	}
	limit := s.config.RequestTimeout
	if registry.LongRunning(verb) {
		limit = 0
	}
	value := exchange.Query(r).Get("timeout")
	if value == "" {
		return limit, nil
	}
	d, err := time.ParseDuration(value)
	switch {
	case err != nil:
		return 0, status.BadRequest("invalid timeout specified in the request URL - %s", err)
	case d > 0 && (limit == 0 || d < limit):
		return d, nil
	}
	return limit, nil
}

// verb hands the request to the file of that name.
func (s *Server) verb(q *request) error {
	if q.Subresource != nil {
		if h := subresourceVerbs[q.Subresource.Action]; h != nil {
			return h(s, q)
		}
	}
	switch q.verb {
	case "create":
		return s.serveCreate(q)
	case "get":
		return s.serveGet(q)
	case "list":
		return s.serveList(q)
	case "watch":
		return s.serveWatch(q)
	case "update":
		return s.serveUpdate(q)
	case "patch":
		return s.servePatch(q)
	case "delete":
		return s.serveDelete(q)
	case "deletecollection":
		return s.serveDeleteCollection(q)
	}
	return status.ErrNoMethod
}

// subresourceVerbs carry out the subresources that are more than a part of their object.
var subresourceVerbs = map[resources.Action]func(*Server, *request) error{
	resources.Scale:  (*Server).serveScale,
	resources.ByHook: (*Server).servePost,
}

// verbOf names what a method means at a target.
func verbOf(r *http.Request, t registry.Target) string {
	switch r.Method {
	case http.MethodGet:
		if t.Watch || t.Name == "" && wantsWatch(r) {
			return "watch"
		}
		if t.Name == "" {
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if t.Name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return ""
}

// wantsWatch reads the watch parameter: present is true unless it says 0 or false (C-03).
func wantsWatch(r *http.Request) bool {
	v, ok := exchange.Query(r)["watch"]
	return ok && v[0] != "0" && !strings.EqualFold(v[0], "false")
}
