package exchange

import (
	"net/http"
	"strings"
)

// IsWebSocket reports whether the client wants to speak WebSocket from here on (k8s.io/streaming
// wsstream: IsWebSocketRequest). HTTP/2 has no upgrades.
func IsWebSocket(r *http.Request) bool {
	if r.ProtoMajor != 1 || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return false
	}
	for token := range strings.SplitSeq(r.Header.Get("Connection"), ",") {
		if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
			return true
		}
	}
	return false
}
