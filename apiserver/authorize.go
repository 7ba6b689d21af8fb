package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/rbac/live"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// Modes are those that --authorization-mode may name.
func Modes() []string { return []string{"AlwaysAllow", "AlwaysDeny", "RBAC"} }

// errMode: an authorization mode that isn't known.
var errMode = errors.New("not an authorization mode")

// authorizers makes the chain of the modes, administrators first. roles is the mode RBAC, if it is there.
func (s *Server) authorizers(modes []string) (chain auth.Chain, roles *live.Authorizer, err error) {
	chain = auth.Chain{auth.Masters{}}
	for _, m := range modes {
		switch m {
		case "AlwaysAllow":
			chain = append(chain, auth.AlwaysAllow{})
		case "AlwaysDeny":
			chain = append(chain, auth.AlwaysDeny{})
		case "RBAC":
			roles = live.New(s.registry.Cache, s.log)
			chain = append(chain, roles)
		default:
			return nil, nil, fmt.Errorf("%q is %w; there are %s", m, errMode, strings.Join(Modes(), ", "))
		}
	}
	return chain, roles, nil
}

// allowsAll reports whether nobody is ever refused.
func (s *Server) allowsAll() bool {
	for _, m := range s.config.Modes {
		if m != "AlwaysAllow" {
			return false
		}
	}
	return true
}

type attributesKey struct{}

// authorize refuses who may not. It leaves to the handlers what it has judged by.
func (s *Server) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.allowsAll() {
			next.ServeHTTP(w, r)
			return
		}
		a, err := s.attributes(r)
		if err == nil {
			err = s.judgeAsked(r, a)
		}
		if err == nil {
			err = s.judge(a)
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), attributesKey{}, a)))
	})
}

// judgeAsked judges a path that is no resource's as the client wrote it, where that has slashes at its end
// which the routes pass over. Upstream judges that alone, but serves hardly any of these paths.
func (s *Server) judgeAsked(r *http.Request, a *auth.Attributes) error {
	asked, ok := r.Context().Value(askedPathKey{}).(string)
	if !ok || a.IsResource {
		return nil
	}
	on := *a
	on.Path = asked
	return s.judge(&on)
}

// authorizeTarget judges a routed request, unless it was judged as the same before. A path that can be
// read in two ways is judged by both.
func (s *Server) authorizeTarget(r *http.Request, t registry.Target, verb string) error {
	if s.allowsAll() || verb == "" { // a method without a verb is served nowhere
		return nil
	}
	judged, _ := r.Context().Value(attributesKey{}).(*auth.Attributes)
	routed := attributesFor(userOf(r), t, verb)
	if judged != nil && covers(judged, routed) {
		return nil
	}
	return s.judge(routed)
}

// judgeCreate judges a request for another verb that turns out to create the object
// (AS pkg/endpoints/handlers/update.go: withAuthorization).
func (q *request) judgeCreate() error { return q.s.judge(attributesFor(q.User, q.Target, "create")) }

// judge returns the 403, nil if the request may go on.
func (s *Server) judge(a *auth.Attributes) error {
	d := s.registry.Authorizer.Authorize(a)
	if d.Allowed() {
		return nil
	}
	return forbidden(a, d.Reason())
}

// refuse answers with what somebody is told who may not.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache, private")
	s.writeError(w, r, err)
}

// notHTML keeps what a client sent from being taken for markup.
var notHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// forbidden words the 403 (AS pkg/endpoints/handlers/responsewriters/errors.go: ForbiddenStatusError).
func forbidden(a *auth.Attributes, reason string) error {
	what := fmt.Sprintf("path %q", a.Path)
	if a.IsResource {
		resource, where := a.Resource, "at the cluster scope"
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		if a.Namespace != "" {
			where = fmt.Sprintf("in the namespace %q", a.Namespace)
		}
		what = fmt.Sprintf("resource %q in API group %q %s", resource, a.Group, where)
	}
	text := notHTML.Replace(fmt.Sprintf("User %q cannot %s %s", a.User.Name, a.Verb, what))
	if reason != "" {
		text += ": " + reason
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, errors.New(text))
}
