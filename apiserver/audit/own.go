package audit

import (
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// OwnRequest is a request of a controller in this process. It is not sent over HTTP.
type OwnRequest struct {
	User authorization.User
	// Method and Path are those of the same request over HTTP: "DELETE", "/api/v1/namespaces/default/pods/a". Agent is
	// its User-Agent.
	Method, Path, Agent string
}

// ownAddress is the client address of an OwnRequest. kube-apiserver's requests to itself have the same address.
const ownAddress = "[::1]:0"

// paths parses the paths of Kubernetes' API (AS pkg/server/config.go: NewRequestInfoResolver).
var paths = request.RequestInfoFactory{
	APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
}

// BeginOwn is Begin for a request of this process that starts now. Its attributes are parsed from its path, so that
// rules match it like the same request of a client.
func (l *Log) BeginOwn(o OwnRequest) *Record {
	if l == nil {
		return nil
	}
	r := &http.Request{
		Method: o.Method, URL: &url.URL{Path: o.Path}, Header: http.Header{"User-Agent": {o.Agent}}, RemoteAddr: ownAddress,
	}
	info, err := paths.NewRequestInfo(r)
	if err != nil {
		panic(err) // the path is that of a resource
	}
	return l.Begin(r, string(uuid.NewUUID()), &authorization.Attributes{
		User: o.User, Verb: info.Verb, IsResource: info.IsResourceRequest, Path: info.Path, Group: info.APIGroup,
		Version: info.APIVersion, Resource: info.Resource, Subresource: info.Subresource, Namespace: info.Namespace,
		Name: info.Name,
	}, time.Now())
}
