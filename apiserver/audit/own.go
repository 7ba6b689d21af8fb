package audit

import (
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// ownAddress is the client address of a request of this process. kube-apiserver's requests to itself have the same.
const ownAddress = "[::1]:0"

// BeginOwn is Begin for a request of a controller in this process that starts now. It is not sent over HTTP. method,
// the path in a and agent are those of the same request over HTTP.
func (l *Log) BeginOwn(method, agent string, a *authorization.Attributes) *Record {
	r := &http.Request{
		Method: method, URL: &url.URL{Path: a.Path}, Header: http.Header{"User-Agent": {agent}}, RemoteAddr: ownAddress,
	}
	return l.Begin(r, string(uuid.NewUUID()), a, time.Now())
}
