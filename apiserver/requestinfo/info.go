package requestinfo

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// Info has the properties of a request. The filters set them one after the other. Handlers only read them.
type Info struct {
	// User is the client, or the user that it impersonates.
	User authorization.User
	// RequestInfo has the parsed path. Parse sets it.
	*request.RequestInfo
	// Body is the whole body of a write of a resource.
	Body []byte
	// attributes are made from User and RequestInfo.
	attributes *authorization.Attributes
	// query is the parsed rawQuery. It is nil before the first Query.
	query    url.Values
	rawQuery string
}

// Query returns the parsed query of a request, which it caches. Callers must not change it.
func Query(r *http.Request) url.Values {
	i := Of(r)
	if i.query == nil || i.rawQuery != r.URL.RawQuery {
		i.query, i.rawQuery = r.URL.Query(), r.URL.RawQuery
	}
	return i.query
}

type infoKey struct{}

// unparsed is the RequestInfo before Parse.
var unparsed request.RequestInfo

// With returns the request with an Info for the user.
func With(r *http.Request, u authorization.User) *http.Request {
	i := &Info{User: u, RequestInfo: &unparsed}
	i.setAttributes()
	return r.WithContext(context.WithValue(r.Context(), infoKey{}, i))
}

// Of returns the Info of the request. It is empty if the request has none.
func Of(r *http.Request) *Info {
	if i, ok := r.Context().Value(infoKey{}).(*Info); ok {
		return i
	}
	return &Info{RequestInfo: &unparsed, attributes: &authorization.Attributes{}}
}

// UserOf returns the request's user.
func UserOf(r *http.Request) authorization.User { return Of(r).User }

// factory parses the paths of Kubernetes' API (AS pkg/server/config.go: NewRequestInfoResolver).
var factory = request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

// reads reports whether Parse reads the query of a request.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// Parse parses the path and the query. The error is that of RequestInfoFactory for a path that ends where a resource is
// expected.
func (i *Info) Parse(r *http.Request) (err error) {
	if i.RequestInfo, err = factory.NewRequestInfo(readable(r)); err != nil {
		i.RequestInfo, err = factory.NewRequestInfo(r) // this error has the whole URL, and precedes one for the query
	}
	if err == nil {
		i.setAttributes()
	}
	return err
}

// ActAs replaces the user by the impersonated one.
func (i *Info) ActAs(u authorization.User) {
	i.User = u
	i.setAttributes()
}

// readable returns the request with the part of its query that RequestInfoFactory can parse. The factory logs queries
// that it can't parse, and a query may contain a secret.
func readable(r *http.Request) *http.Request {
	if r.URL.RawQuery == "" || !reads(r) {
		return r
	}
	query, out := Query(r), make(url.Values, 2)
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

// Attributes returns the attributes by which the request is authorized and classified. Callers must not change them.
func (i *Info) Attributes() *authorization.Attributes { return i.attributes }

func (i *Info) setAttributes() {
	i.attributes = &authorization.Attributes{
		User: i.User, Verb: i.Verb, IsResource: i.IsResourceRequest, Path: i.Path, Group: i.APIGroup, Version: i.APIVersion,
		Resource: i.Resource, Subresource: i.Subresource, Namespace: i.Namespace, Name: i.Name,
	}
}

// AttributesAs returns the Attributes with another verb.
func (i *Info) AttributesAs(verb string) *authorization.Attributes {
	a := *i.attributes
	a.Verb = verb
	return &a
}

// Prefixes reports whether the path of a resource has, after the group version, the prefix watch (legacy watch paths)
// and the prefix namespaces/<namespace>.
func (i *Info) Prefixes() (watch, namespaced bool) {
	rest, skip := strings.Trim(i.Path, "/"), 2
	if i.APIPrefix == "apis" {
		skip = 3
	}
	for range skip {
		_, rest, _ = strings.Cut(rest, "/")
	}
	first, after, _ := strings.Cut(rest, "/")
	if watch = first == "watch"; watch {
		rest = after
	}
	return watch, strings.Count(rest, "/")+1 > len(i.Parts)
}
