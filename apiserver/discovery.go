package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// NoNetwork is why this server can't send requests to the service that an APIService names.
const NoNetwork = "this server has no cluster network, and passes no requests on to other servers"

// missing is the error for a group version that is not served: 503 if an APIService reports that another server has it
// (KA pkg/apiserver/handler_proxy.go has no Status for it), else otherwise. The read is consistent: an APIService whose
// deletion was acknowledged is gone.
func (s *Server) missing(ctx context.Context, group, version string, otherwise error) error {
	if version == "" {
		return otherwise
	}
	name := version + "." + group
	o, err := s.registry.Load(ctx, s.registry.Root+"/"+apiregistrationv1.GroupName+"/apiservices/"+name)
	if err != nil {
		return err
	}
	if o == nil {
		return otherwise
	}
	var a apiregistrationv1.APIService
	if json.Unmarshal(o.JSON, &a) != nil || a.Spec.Service == nil {
		return otherwise
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf(
		"the APIService %s names service/%s in %q: %s", name, a.Spec.Service.Name, a.Spec.Service.Namespace, NoNetwork,
	))
}

// discovery serves a group or version. For one that is not served /api answers a Status, and /apis a plain 404: there
// the group's handler is missing.
func (s *Server) discovery(w http.ResponseWriter, r *http.Request) {
	group, version := chi.URLParam(r, "group"), chi.URLParam(r, "version")
	if s.serves(group, version) {
		s.resourceLists.ServeHTTP(w, r)
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
	if err := s.missing(r.Context(), group, version, none); err != nil {
		render.Error(s.config.Log, w, r, err)
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

// documents serves OpenAPI documents of the types as they are now.
func (s *Server) documents(h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.documented.Lock()
		if g := s.registry.Types.Generation(); g != s.documented.generation {
			s.documented.generation = g
			s.openAPI.Invalidate()
		}
		s.documented.Unlock()
		h.ServeHTTP(w, r)
	}
}
