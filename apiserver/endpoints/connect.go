package endpoints

import (
	"maps"
	"net/url"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// proxied is the subresource that every method connects to; its options have the rest of the path.
const proxied = "proxy"

// connects reports whether a request is for a subresource that needs a kubelet or the cluster's network.
func connects(t registry.Target, verb string) bool {
	return t.Subresource != nil && t.Subresource.Action == resources.Unserved &&
		(t.Subresource.Has(verb) || t.Subresource.Name == proxied)
}

// connect admits a connection, and then answers that there is none (L-21, O-06; AS pkg/endpoints/handlers/rest.go:
// ConnectResource). Logs are read with GET, which is not admitted.
func (a *API) connect(req *request) error {
	kind := req.Subresource.Kind
	if kind.Empty() {
		return status.ErrNeedsKubelet
	}
	if requestinfo.Query(req.r).Get("dryRun") != "" { // B-70
		return status.BadRequest("dryRun is not supported")
	}
	options, err := resources.Scheme().New(kind)
	if err == nil {
		err = requestinfo.DecodeConnect(req.connectQuery(), options)
	}
	if err != nil {
		return err
	}
	if err := a.Registry.Connect(req.r.Context(), &req.Request, options); err != nil {
		return err
	}
	return status.ErrNeedsKubelet
}

// connectQuery returns the parameters of a connection. The path of a proxied request is one of them, and replaces a
// parameter of that name.
func (req *request) connectQuery() url.Values {
	query := requestinfo.Query(req.r)
	if req.Subresource.Name != proxied {
		return query
	}
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	path := ""
	if req.Rest != "" {
		path = "/" + req.Rest
	}
	query["path"] = []string{path}
	return query
}
