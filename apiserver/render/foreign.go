package render

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Foreign reports whether a browser marks a request as caused by a page of another site. It marks all requests that the
// page's code and markup cause, including frames, WebSockets and preloading, but not a link that the user follows.
func Foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "" || site == "same-origin" || site == "none" {
		// Some browsers send Origin, but not this header, with a WebSocket or with any request.
		origin := r.Header.Get("Origin")
		if site != "" || origin == "" {
			return false
		}
		u, err := url.Parse(origin)
		return err != nil || u.Host != r.Host
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" ||
		r.Header.Get("Sec-Purpose") != "" // speculation rules of a page load documents before the user follows a link
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
