package filters

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
)

const (
	subprotocols = "Sec-Websocket-Protocol"
	// bearerProtocol is what the name of a subprotocol begins with that is a token: browsers let pages name
	// subprotocols, but set no headers.
	bearerProtocol = "base64url.bearer.authorization.k8s.io."
)

// socketBearer returns the token that a client which opens a WebSocket has named as a subprotocol, and the
// other ones, of which there must be one to answer with (AS pkg/authentication/request/websocket). What is
// meant to be a token and can't be one is wrong, an empty one too: the client does not become anonymous.
func socketBearer(r *http.Request) (token string, others []string, err error) {
	if !exchange.IsWebSocket(r) {
		return "", nil, auth.ErrNoCredentials
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
				return "", nil, auth.ErrToken
			}
			token = string(data)
		}
	}
	switch {
	case found == 0:
		return "", nil, auth.ErrNoCredentials
	case found > 1 || len(others) == 0:
		return "", nil, auth.ErrToken
	}
	return token, others, nil
}
