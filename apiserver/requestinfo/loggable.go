package requestinfo

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// logged are the query parameters of the API. Only their values are logged. A client may put a secret, such as a bearer
// token, into any other parameter.
var logged = []string{
	"allowWatchBookmarks", "continue", "dryRun", "exclude", "fieldManager", "fieldSelector", "fieldValidation", "force",
	"gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential", "includeObject", "labelSelector", "limit",
	"orphanDependents", "pretty", "propagationPolicy", "resourceVersion", "resourceVersionMatch", "sendInitialEvents",
	"timeout", "timeoutSeconds", "verbose", "watch",
}

// Loggable returns the path and query of a request, without the values of parameters that the API doesn't have.
func Loggable(u *url.URL) string {
	if u.RawQuery == "" {
		return u.EscapedPath()
	}
	parts := strings.Split(u.RawQuery, "&")
	for i, part := range parts {
		if key, _, valued := strings.Cut(part, "="); valued &&
			(!slices.Contains(logged, key) || strings.Contains(part, ";")) {
			parts[i] = key + "=REDACTED"
		}
	}
	return u.EscapedPath() + "?" + strings.Join(parts, "&")
}

// IsWebSocket reports whether the client requests an upgrade to WebSocket (k8s.io/streaming wsstream:
// IsWebSocketRequest). HTTP/2 has no upgrades.
func IsWebSocket(r *http.Request) bool {
	return r.ProtoMajor == 1 && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		httpguts.HeaderValuesContainsToken([]string{r.Header.Get("Connection")}, "upgrade")
}
