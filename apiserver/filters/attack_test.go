package filters_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestOneVerbAuthorizesOnlyThatVerb: a rule for one verb authorizes no other verb, in any form of the path.
func TestOneVerbAuthorizesOnlyThatVerb(t *testing.T) {
	s := start(t, nil)
	const base, named = "/api/v1/namespaces/b/configmaps", "/api/v1/namespaces/b/configmaps/c"
	s.Want(201, "POST", base, `{"metadata":{"name":"c"}}`)
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"} {
		user := "only-" + verb
		s.Grant(user, "b", user, `[{"verbs":["`+verb+`"],"apiGroups":[""],"resources":["configmaps"]}]`)
		s.Grant("bearer", "", "as-"+user,
			`[{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["`+user+`"]}]`)
		for _, c := range []struct{ needs, method, path, body string }{
			{"get", "GET", named, ""},
			{"get", "GET", named + "?watch=true", ""},
			{"list", "GET", base, ""},
			{"list", "GET", base + "?watch=false", ""},
			{"watch", "GET", base + "?watch=1&resourceVersion=x", ""},
			{"watch", "GET", base + "?watch&resourceVersion=x", ""},
			{"watch", "GET", "/api/v1/watch/namespaces/b/configmaps?resourceVersion=x", ""},
			{"watch", "GET", "/api/v1/watch/namespaces/b/configmaps/c?resourceVersion=x", ""},
			{"create", "POST", base + "?dryRun=All", `{"metadata":{"name":"n"}}`},
			{"update", "PUT", named + "?dryRun=All", `{"metadata":{"name":"c"}}`},
			{"patch", "PATCH", named + "?dryRun=All", `{}`},
			{"delete", "DELETE", named + "?dryRun=All", ""},
			{"deletecollection", "DELETE", base + "?dryRun=All", ""},
		} {
			// A user that may watch gets the error that x is not a revision.
			let := func(code int) bool { return code < 300 || c.needs == "watch" && code != 403 }
			if a := s.As("admin", c.method, c.path, c.body, "Impersonate-User", user); let(a.Code) != (c.needs == verb) ||
				c.needs != verb && a.Code != 403 {
				t.Errorf("with %s: %s %s: %d %s", verb, c.method, c.path, a.Code, a.Body)
			}
		}
	}
}

// TestMalformedRequestsSmuggleNothing: a malformed request receives one error, and the bytes after one with an
// ambiguous length aren't processed as another request.
func TestMalformedRequestsSmuggleNothing(t *testing.T) {
	s := start(t, nil)
	const (
		secrets = "/api/v1/namespaces/b/secrets"
		user    = "Host: localhost\nAuthorization: Bearer mallory-token\n"
		second  = "GET /api HTTP/1.1\nHost: localhost\nAuthorization: Bearer admin-token\n\n"
		get     = "GET /api HTTP/1.1\n" + user
		post    = "POST /api/v1/namespaces/b/configmaps HTTP/1.1\nHost: localhost\nAuthorization: Bearer admin-token\n"
		object  = `{"metadata":{"name":"smuggled"}}`
	)
	for _, c := range []struct {
		what    string
		code    int
		request string
	}{
		{"two lengths", 400, get + "Content-Length: 0\nContent-Length: 7\n\n" + second},
		{"negative length", 400, get + "Content-Length: -1\n\n" + second},
		{"length with a sign", 400, post + "Content-Length: +32\n\n" + object},
		{"length too large to count", 400, post + "Content-Length: 99999999999999999999\n\n" + object},
		{"unknown encoding", 501, get + "Transfer-Encoding: chunked, identity\n\n0\n\n" + second},
		{"two encodings", 501, get + "Transfer-Encoding: chunked\nTransfer-Encoding: identity\n\n0\n\n" + second},
		{"space before colon", 400, get + "Transfer-Encoding : chunked\n\n0\n\n" + second},
		{"size of a chunk", 400, post + "Transfer-Encoding: chunked\n\nzz\n" + object + "\n0\n\n"},
		{"size of a chunk too large", 400, post + "Transfer-Encoding: chunked\n\nfffffffffffffffff\n" + object + "\n0\n\n"},
		{"folded header", 403, "GET " + secrets + " HTTP/1.1\n" + user + "X:\n Authorization: Bearer admin-token\n\n"},
		{"line break in a value", 400, "GET " + secrets + " HTTP/1.1\n" + user + "X: a\rImpersonate-User: admin\n\n"},
		{"NUL in a value", 400, get + "X: a\x00b\n\n"},
		{"header without a name", 400, get + ": x\n\n"},
		{"space in the path", 400, "GET /healthz /api HTTP/1.1\n" + user + "\n"},
		{"path without a slash", 400, "GET api/v1/secrets HTTP/1.1\n" + user + "\n"},
		{"unfinished escape", 400, "GET " + secrets + "%2 HTTP/1.1\n" + user + "\n"},
		{"two hosts", 400, "GET /api HTTP/1.1\nHost: a\n" + user + "\n"},
		{"no host", 400, "GET /api HTTP/1.1\nAuthorization: Bearer admin-token\n\n"},
		{"unknown version", 505, "GET /api HTTP/3.0\n" + user + "\n"},
		{"no request", 400, strings.Repeat("\x16\x03\x01", 100) + "\n\n"},
		{"expectation", 417, post + "Expect: something\nContent-Length: 32\n\n" + object},
		{"tunnel", 405, "CONNECT " + secrets + "/x HTTP/1.1\nHost: localhost\nAuthorization: Bearer admin-token\n\n"},
		{"half a body", 400, post + "Content-Length: 100\n\n" + object},
	} {
		if codes := s.raw(c.request); len(codes) != 1 || codes[0] != c.code {
			t.Errorf("%s: %v, want %d", c.what, codes, c.code)
		}
	}
	if maps := s.Want(200, "GET", "/api/v1/namespaces/b/configmaps", nil).List().Items; len(maps) > 0 {
		t.Errorf("created %v", maps)
	}
}

// TestPlainPortRejectsPages: the plain port, whose client is an administrator, rejects requests from pages of another
// site.
func TestPlainPortRejectsPages(t *testing.T) {
	s := start(t, nil)
	for _, header := range []http.Header{
		{"Origin": {"http://evil.test"}}, {"Origin": {"null"}}, {"Sec-Fetch-Site": {"cross-site"}},
		{"Host": {"evil.test"}}, {"Host": {"localhost.evil.test:8080"}},
		{"Origin": {"http://evil.test"}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}},
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			r, err := http.NewRequest(method, s.URL+"/api/v1/namespaces/b/secrets", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header, r.Host = header, header.Get("Host")
			res, err := s.Server.Client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if res.Body.Close(); res.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %v: %s", method, header, res.Status)
			}
		}
	}
}

// raw sends bytes to the secure port and returns the codes of all responses until the connection ends.
func (s *secured) raw(request string) (codes []int) {
	s.T.Helper()
	config := s.Port.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"http/1.1"}
	c, err := tls.Dial("tcp", s.Port.Listener.Addr().String(), config)
	if err != nil {
		s.T.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		s.T.Fatal(err)
	}
	if _, err := io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
		s.T.Fatal(err)
	}
	if err := c.CloseWrite(); err != nil { // the server must not wait for more requests
		s.T.Fatal(err)
	}
	r := bufio.NewReader(c)
	for {
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			return codes
		}
		if _, err := io.Copy(io.Discard, a.Body); err != nil {
			return append(codes, a.StatusCode)
		}
		codes = append(codes, a.StatusCode)
	}
}
