package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// OwnOrigin protects a port without authentication from web pages of other sites. It serves only requests for loopback
// names, so that no other host name can be made to resolve to the port (DNS rebinding). It rejects requests that a
// browser marks as cross-origin (kubectl proxy: --accept-hosts), including reads: the other site's page can't see the
// response, but would use up limited resources, such as open streams.
func OwnOrigin(log *slog.Logger) func(http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			checked := r
			if requestinfo.IsWebSocket(r) { // a page can read another site's WebSocket, but not the response to its GET
				checked = r.Clone(r.Context())
				checked.Method = http.MethodPost
			}
			if !render.Loopback(r.Host) || render.Foreign(r) || cross.Check(checked) != nil {
				render.Error(log, w, r, status.ErrForeign)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// NoForeignCertificates rejects requests of other sites' pages that have the user's certificate. A browser sends it
// with every request, like a cookie. A page can't set a header with credentials for another site, nor the headers of a
// proxy. A proxy has its own certificate, and is responsible for the requests that it forwards.
func NoForeignCertificates(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			onlyCertificate := r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && r.Header.Get("Authorization") == "" &&
				r.Header.Get("X-Forwarded-For") == ""
			if onlyCertificate && (render.Foreign(r) || posted(r)) {
				render.Error(log, w, r, status.ErrForeignCertificate)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// posted reports whether the request is a write from another site's form or link.
func posted(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && marked(r)
}

// marked reports whether a browser marks the request as caused by another site.
func marked(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}
