package filters_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/websocket"
)

// TestSocketTokens: a token in a subprotocol authenticates the client like a bearer token, an invalid one gets the code
// 401, and no token is returned or logged.
func TestSocketTokens(t *testing.T) {
	s := start(t, nil)
	s.Grant("alice", "a", "reader", `[{"verbs":["watch"],"apiGroups":[""],"resources":["configmaps"]}]`)
	const path, prefix = "/api/v1/namespaces/a/configmaps?watch=true", "base64url.bearer.authorization.k8s.io."
	named := func(token string) string { return prefix + base64.RawURLEncoding.EncodeToString([]byte(token)) }
	alice, mallory := named("alice-token"), named("mallory-token")

	config, err := websocket.NewConfig("wss"+strings.TrimPrefix(s.Port.URL, "https")+path, s.Port.URL)
	if err != nil {
		t.Fatal(err)
	}
	config.TlsConfig = s.Port.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.Protocol = []string{alice, "x"}
	c, err := websocket.DialConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Config().Protocol; len(got) != 1 || got[0] != "x" {
		t.Errorf("the subprotocol is %q", got)
	}

	upgrade := []string{
		"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key",
		"AAAAAAAAAAAAAAAAAAAAAA==", "Origin", s.Port.URL,
	}
	for what, test := range map[string]struct {
		code   int
		header []string
	}{
		"none":           {403, append(upgrade, "Sec-WebSocket-Protocol", "x")},
		"of who may not": {403, append(upgrade, "Sec-WebSocket-Protocol", mallory+", x")},
		"wrong":          {401, append(upgrade, "Sec-WebSocket-Protocol", "x, "+named("wrong-token"))},
		"empty":          {401, append(upgrade, "Sec-WebSocket-Protocol", prefix+", x")},
		"with padding":   {401, append(upgrade, "Sec-WebSocket-Protocol", alice+"==, x")},
		"no text":        {401, append(upgrade, "Sec-WebSocket-Protocol", prefix+"_w, x")},
		"two":            {401, append(upgrade, "Sec-WebSocket-Protocol", alice+", "+mallory+", x")},
		"two headers":    {401, append(upgrade, "Sec-WebSocket-Protocol", alice+", x", "Sec-WebSocket-Protocol", alice)},
		"nothing else":   {401, append(upgrade, "Sec-WebSocket-Protocol", alice)},
		"beside a header": {
			403, append(upgrade, "Sec-WebSocket-Protocol", alice+", x", "Authorization", "Bearer mallory-token"),
		},
		"beside a wrong header": {
			401, append(upgrade, "Sec-WebSocket-Protocol", alice+", x", "Authorization", "Bearer wrong"),
		},
		"where no WebSocket is":   {403, []string{"Sec-WebSocket-Protocol", alice + ", x"}},
		"wrong, for a list":       {401, append(upgrade, "Sec-WebSocket-Protocol", named("wrong-token")+", x")},
		"in another header's way": {403, append(upgrade, "Sec-WebSocket-Protocol", "bearer.alice-token, x")},
	} {
		at := path
		if strings.HasSuffix(what, "list") {
			at = "/healthz"
		}
		if a := s.Ask("GET", at, nil, test.header...); a.Code != test.code {
			t.Errorf("%s: %d %s", what, a.Code, a.Body)
		}
	}
	// On the plain port a client without credentials is an administrator; one with invalid credentials is rejected.
	if a := s.Do(
		"GET", path, nil, append(upgrade[:8:8], "Origin", s.URL, "Sec-WebSocket-Protocol", named("wrong-token")+", x")...,
	); a.Code != 401 {
		t.Errorf("on the plain port: %d %s", a.Code, a.Body)
	}
	if strings.Contains(s.Log.String(), alice) || strings.Contains(s.Log.String(), "alice-token") {
		t.Error("a token is in the log")
	}
}
