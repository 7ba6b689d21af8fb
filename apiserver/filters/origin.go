package filters

import (
	"log/slog"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// OwnOrigin protects a port without authentication from web pages of other sites: it serves requests for loopback names
// only, so that no other host name can be made to resolve to it (DNS rebinding), and no request that a browser marks as
// cross-origin (kubectl proxy: --accept-hosts), also if it only reads: the page of the other site can't see the answer,
// but would use up what is bounded, such as open streams.
func OwnOrigin(log *slog.Logger) func(http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			checked := r
			if requestinfo.IsWebSocket(r) { // pages may read those of other sites, unlike the answer to a GET
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

// NoForeignCertificates rejects requests of other sites' pages that a browser sends with the user's certificate, which
// it does unasked, as with a cookie. No page can set a header with credentials for another site, nor that of proxies,
// which have a certificate of their own and answer for what they pass on.
func NoForeignCertificates(log *slog.Logger) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			unasked := r.TLS != nil && len(r.TLS.PeerCertificates) > 0 && r.Header.Get("Authorization") == "" &&
				r.Header.Get("X-Forwarded-For") == ""
			if unasked && (render.Foreign(r) || posted(r)) {
				render.Error(log, w, r, status.ErrForeignCertificate)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// posted reports whether another site's form or link changes something.
func posted(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && marked(r)
}

// marked reports whether a browser states that another site is behind the request.
func marked(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}
