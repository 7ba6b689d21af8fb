package filters

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
)

const (
	subprotocols = "Sec-Websocket-Protocol"
	// bearerProtocol is the prefix of a subprotocol that contains a token. In browsers, a page can set the subprotocols
	// of a WebSocket, but not its headers.
	bearerProtocol = "base64url.bearer.authorization.k8s.io."
)

// socketBearer returns the token that a WebSocket client sends as a subprotocol, and the other subprotocols. There must
// be at least one of these, because the response must accept one (AS pkg/authentication/request/websocket). A malformed
// or empty token is an error: it does not make the client anonymous.
func socketBearer(r *http.Request) (token string, others []string, err error) {
	if !requestinfo.IsWebSocket(r) {
		return "", nil, authentication.ErrNoCredentials
	}
	found := 0
	for _, line := range r.Header.Values(subprotocols) {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			encoded, ok := strings.CutPrefix(name, bearerProtocol)
			if !ok {
				others = append(others, name)
				continue
			}
			found++
			data, err := base64.RawURLEncoding.DecodeString(encoded)
			if err != nil || len(data) == 0 || !utf8.Valid(data) {
				return "", nil, authentication.ErrToken
			}
			token = string(data)
		}
	}
	switch {
	case found == 0:
		return "", nil, authentication.ErrNoCredentials
	case found > 1 || len(others) == 0:
		return "", nil, authentication.ErrToken
	}
	return token, others, nil
}
