package requestinfo

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
)

// Info is what is known of a request. The filters fill it in, one after the other; from then on it is only read.
type Info struct {
	// User is the client, or as whom it acts.
	User authentication.User
	// RequestInfo is what the request names; set by Parse.
	*request.RequestInfo
}

type infoKey struct{}

// With returns the request with an Info of the user.
func With(r *http.Request, u authentication.User) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), infoKey{}, &Info{User: u}))
}

// Of returns the request's Info; an empty one of a request without.
func Of(r *http.Request) *Info {
	if i, ok := r.Context().Value(infoKey{}).(*Info); ok {
		return i
	}
	return &Info{RequestInfo: &request.RequestInfo{}}
}

// UserOf returns the request's user.
func UserOf(r *http.Request) authentication.User { return Of(r).User }

type askedKey struct{}

// WithAsked returns the request with the path as the client wrote it, where that has slashes at its end which the
// routes ignore.
func WithAsked(r *http.Request, path string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), askedKey{}, path))
}

// Asked is the path of WithAsked.
func Asked(r *http.Request) (path string, ok bool) {
	path, ok = r.Context().Value(askedKey{}).(string)
	return path, ok
}

// factory knows the paths of Kubernetes' API (AS pkg/server/config.go: NewRequestInfoResolver).
var factory = request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

// Parse fills in what the request names. The error is that of RequestInfoFactory: a path that ends where a resource is
// expected.
func (i *Info) Parse(r *http.Request) (err error) {
	i.RequestInfo, err = factory.NewRequestInfo(readable(r))
	return err
}

// readable is the request with as much of its query as RequestInfoFactory can read. It logs queries that it can't, and a
// query may hold a secret.
func readable(r *http.Request) *http.Request {
	if r.URL.RawQuery == "" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return r
	}
	query, out := exchange.Query(r), make(url.Values, 2)
	// The first of several values counts.
	if watch, ok := query["watch"]; ok {
		out["watch"] = watch[:1]
	}
	if selector, ok := query["fieldSelector"]; ok && DecodeQuery(query, &metainternal.ListOptions{}) == nil {
		out["fieldSelector"] = selector[:1]
	}
	u := url.URL{Path: r.URL.Path}
	if len(out) > 0 {
		u.RawQuery = out.Encode()
	}
	return &http.Request{Method: r.Method, URL: &u}
}

// Attributes are what the request is authorized and classified by.
func (i *Info) Attributes() *authorization.Attributes {
	return &authorization.Attributes{
		User: i.User, Verb: i.Verb, IsResource: i.IsResourceRequest, Path: i.Path, Group: i.APIGroup, Version: i.APIVersion,
		Resource: i.Resource, Subresource: i.Subresource, Namespace: i.Namespace, Name: i.Name,
	}
}

// AttributesAs are Attributes of another verb.
func (i *Info) AttributesAs(verb string) *authorization.Attributes {
	a := i.Attributes()
	a.Verb = verb
	return a
}

// prefix is what the path has before its parts: /api/v1, /apis/<group>/<version>, with /watch behind it for the legacy
// paths of watches. namespaced says that /namespaces/<namespace> stands between.
func (i *Info) prefix() (prefix string, namespaced bool) {
	prefix = strings.TrimRight(i.Path, "/")
	for n := len(i.Parts) - 1; n >= 0; n-- {
		prefix = strings.TrimSuffix(strings.TrimSuffix(prefix, i.Parts[n]), "/")
	}
	if rest, ok := strings.CutSuffix(prefix, i.Namespace); ok {
		if rest, ok = strings.CutSuffix(rest, "/namespaces/"); ok {
			return rest, true
		}
	}
	return prefix, false
}
