package apiserver

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Routes returns the routes that Insecure serves.
func (s *Server) Routes() chi.Routes {
	return s.routes(func(*http.Request) (authorization.User, error) { return authorization.Unsecured, nil })
}

// Plugins returns the names of the plugins that there are, in the order in which they run.
func (s *Server) Plugins() (out []string) {
	for _, c := range admission.All(s.registry.Lookup(), s.registry.Dynamic.Plugins()...) {
		out = append(out, c.Name)
	}
	return out
}
