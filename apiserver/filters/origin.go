package filters

import (
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/respond"
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
			if exchange.IsWebSocket(r) { // pages may read those of other sites, unlike the answer to a GET
				checked = r.Clone(r.Context())
				checked.Method = http.MethodPost
			}
			if !loopbackHost(r.Host) || Foreign(r) || cross.Check(checked) != nil {
				respond.Error(log, w, r, status.ErrForeign)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Foreign reports whether a browser marks a request as that of another site's page: as all that its code and markup
// send, frames among it. A link that a person follows is none.
func Foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// loopbackHost reports whether a Host header names this machine's loopback interface.
func loopbackHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || ip != nil && ip.IsLoopback()
}
