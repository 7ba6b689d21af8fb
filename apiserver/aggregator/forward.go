package aggregator

import (
	"context"
	"net/http"
	"net/url"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/transport"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/kubecascade/kubecascade/apiserver/proxy"
)

// Forward sends a request for a path to the service as user u, and sends the service's response. If it can't send the
// request, it responds in plain text (KA pkg/apiserver/handler_proxy.go). Close ends it.
func (a *Aggregator) Forward(w http.ResponseWriter, r *http.Request, path string, s *Service, u user.DefaultInfo) {
	if !s.available() {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	if s.broken != nil {
		http.Error(w, s.broken.Error(), http.StatusInternalServerError)
		return
	}
	address, err := a.address(r.Context(), s)
	if err != nil {
		http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	r = r.Clone(ctx)
	r.URL.Path = path
	transport.SetAuthProxyHeaders(r, u.Name, u.UID, u.Groups, u.Extra)
	if id := w.Header().Get("Audit-Id"); id != "" { // both servers record it
		r.Header.Set("Audit-Id", id)
	}
	proxy.Forward(w, r, &proxy.Target{
		URL:       &url.URL{Scheme: "https", Host: address, Path: path, RawQuery: r.URL.Query().Encode()},
		Transport: s.transport, Rewrite: true, RejectRedirects: true, UpgradeRequired: httpstream.IsUpgradeRequest(r),
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
	})
}
