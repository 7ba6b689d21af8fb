package apiserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/aggregator"
	"github.com/kubecascade/kubecascade/apiserver/discovery"
	"github.com/kubecascade/kubecascade/apiserver/filters"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// aggregate creates the aggregator, which reads APIServices from the cache, and adds its documents to this server's.
func (s *Server) aggregate() {
	const collection = apiregistrationv1.GroupName + "/apiservices"
	c := &s.config
	prefix := c.Decoder.Root + "/" + collection + "/"
	s.aggregator = aggregator.New(aggregator.Config{
		Get: func(name string) ([]byte, int64) {
			if o, _ := c.Cache.Get(prefix + name); o != nil {
				return o.JSON, o.Revision
			}
			return nil, 0
		},
		Names: func() (names []string) {
			snapshot, err := c.Cache.Snapshot(collection, 0)
			if err != nil {
				return nil // the cache has no state yet
			}
			for o := range snapshot.Ascend(prefix, "") {
				names = append(names, strings.TrimPrefix(o.Key, prefix))
			}
			return names
		},
		Resolve: s.registry.ServiceAddress, Certificate: c.FrontProxy, Now: c.Now,
	})
	s.resourceLists.Others = func() (out []discovery.Other) {
		for _, v := range s.aggregator.Versions() {
			out = append(out, discovery.Other(v))
		}
		return out
	}
	s.openAPI.Others = openapi.Others{V3: s.aggregator.V3, V2: s.aggregator.V2}
}

// Aggregator returns the aggregator, which forwards requests to other servers.
func (s *Server) Aggregator() *aggregator.Aggregator { return s.aggregator }

// forward forwards a request to the aggregated server that serves the group version. Its read of APIServices is
// consistent, so every acknowledged write of one has taken effect.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, group, version string) {
	if err := s.registry.Fresh(r.Context()); err != nil {
		render.Error(s.config.Log, w, r, err)
		return
	}
	to := s.aggregator.Of(group, version)
	if to == nil {
		s.unserved(w, r, group)
		return
	}
	flowcontrol.Begun(r.Context()) // it may be a watch (AS pkg/util/flowcontrol: RequestDelegated)
	s.aggregator.Forward(w, r, filters.OriginalPath(r), to, requestinfo.UserOf(r))
}

// forwarded handles requests for resources of other servers. They wait for a seat and have a timeout, as usual.
func (s *Server) forwarded() http.Handler {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := requestinfo.Of(r)
		s.forward(w, r, i.APIGroup, i.APIVersion)
	})
	seat := filters.Seat(s.seats, s.metrics, func(*http.Request) int { return 0 }, s.config.Log)
	return s.inTime(seat(h))
}

// inTime ends requests after the timeout.
func (s *Server) inTime(h http.Handler) http.Handler {
	return filters.Timeout(s.config.RequestTimeout, registry.LongRunning, s.config.Log)(h)
}

// forwardDocument forwards a request for the discovery or OpenAPI document of another server's group version.
func (s *Server) forwardDocument(w http.ResponseWriter, r *http.Request, group, version string) {
	s.inTime(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.forward(w, r, group, version)
	})).ServeHTTP(w, r)
}

// discovery serves the discovery document of a group or version. If the group is not served, /api returns a Status, and
// /apis a plain 404, as in kube-apiserver, which has no handler for an absent group.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	group, version := chi.URLParam(r, "group"), chi.URLParam(r, "version")
	if s.aggregator.Of(group, version) == nil {
		if h := s.resourceLists.Handler(r.URL.Path); h != nil {
			h.ServeHTTP(w, r)
			return
		}
	}
	s.forwardDocument(w, r, group, version)
}

// unserved responds to a request for a group version that isn't served, or for a group whose APIService is new.
func (s *Server) unserved(w http.ResponseWriter, r *http.Request, group string) {
	if h := s.resourceLists.Handler(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	if s.serves(group, "") {
		render.Error(s.config.Log, w, r, status.ErrNoRoute)
		return
	}
	http.NotFound(w, r)
}

// ours reports whether this server, and not another one, serves the group version.
func (s *Server) ours(group, version string) bool {
	return s.aggregator.Of(group, version) == nil && s.serves(group, version)
}

// serves reports whether the group version is served. With an empty version, it reports whether the group is served.
func (s *Server) serves(group, version string) bool {
	return slices.ContainsFunc(s.registry.Types.Groups(), func(g resources.Group) bool {
		return g.Name == group && (version == "" || slices.Contains(g.Versions, version))
	})
}

// documents serves OpenAPI documents of the current types. Other servers serve the v3 documents on their own types.
func (s *Server) documents(h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		gv, _ := strings.CutPrefix(r.URL.Path, "/openapi/v3/apis/")
		if group, version, ok := strings.Cut(gv, "/"); ok && s.aggregator.Of(group, version) != nil {
			s.forwardDocument(w, r, group, version)
			return
		}
		s.documented.Lock()
		if g := s.registry.Types.Generation(); g != s.documented.generation {
			s.documented.generation = g
			s.openAPI.Invalidate()
		}
		s.documented.Unlock()
		h.ServeHTTP(w, r)
	}
}
