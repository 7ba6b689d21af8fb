package render

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Foreign reports whether a browser marks a request as that of another site's page: as all that its code and markup
// send, frames, WebSockets and what it loads in advance among it. A link that a person follows is none.
func Foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "" || site == "same-origin" || site == "none" {
		// Some browsers send no such header with a WebSocket, or at all, but an origin.
		origin := r.Header.Get("Origin")
		if site != "" || origin == "" {
			return false
		}
		u, err := url.Parse(origin)
		return err != nil || u.Host != r.Host
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" ||
		r.Header.Get("Sec-Purpose") != "" // a page's speculation rules load documents before anybody follows a link
}

// Loopback reports whether a Host header names this machine's loopback interface.
func Loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || ip != nil && ip.IsLoopback()
}
