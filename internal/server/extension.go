package server

import (
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/extension"
)

// extensions are the paths that kube-apiserver doesn't have, below extension.Prefix. Requests come when everything is
// assembled: handlers may then use s.api.
func (s *system) extensions(_ *data) []extension.Route {
	return []extension.Route{
		s.settledRoute(),
		extension.Trail(s.trail, func() authorization.Authorizer { return s.api.Authorizer() }, s.log),
	}
}
