package filters_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// odd creates CRDs whose names have another meaning in a path.
func (s *secured) odd(plural, scope string) {
	s.T.Helper()
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	kind := strings.ToUpper(plural[:1]) + plural[1:]
	names := `{"plural":"` + plural + `","singular":"` + plural + `","kind":"` + kind + `","listKind":"` + kind + `List"}`
	s.Want(201, "POST", definitions, `{"metadata":{"name":"`+plural+`.odd.test"},"spec":{"group":"odd.test","scope":"`+
		scope+`","names":`+names+`,
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	condition := func(name string) string {
		return `{"type":"` + name +
			`","status":"True","reason":"Test","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}`
	}
	a := s.Do("PATCH", definitions+"/"+plural+".odd.test/status", `{"status":{"acceptedNames":`+names+
		`,"storedVersions":["v1"],"conditions":[`+condition("NamesAccepted")+`,`+condition("Established")+`]}}`)
	if a.Code != 200 {
		s.T.Fatalf("%d %s", a.Code, a.Body)
	}
	for s.Types.Lookup("odd.test", "v1", plural) == nil {
		<-s.Types.Changed()
	}
}

// TestOneReading: the resource of a path is the same for authorization and for the handler, and upstream's, whatever
// CRDs exist (AS pkg/endpoints/request/requestinfo.go).
func TestOneReading(t *testing.T) {
	s := start(t, nil)
	s.odd("watch", "Cluster")
	s.odd("namespaces", "Cluster")
	s.odd("status", "Namespaced")
	s.Grant("alice", "", "watches", `[{"verbs":["watch"],"apiGroups":["odd.test"],"resources":["*"]}]`)
	s.Grant(
		"mallory", "b", "own", `[{"verbs":["*"],"apiGroups":["odd.test"],"resources":["namespaces","namespaces/status"]}]`,
	)
	const base = "/apis/odd.test/v1/"
	object := func(kind, name string) string {
		return `{"apiVersion":"odd.test/v1","kind":"` + kind + `","metadata":{"name":"` + name + `"}}`
	}
	s.Want(201, "POST", base+"namespaces", object("Namespaces", "b"))
	s.Want(201, "POST", base+"namespaces", object("Namespaces", "c"))
	for _, c := range []struct {
		user, method, path, body string
		code                     int
	}{
		{"admin", "POST", "watch", object("Watch", "w"), 500}, // watch is a prefix, so there is no resource
		{"admin", "GET", "watch", "", 500},
		{"alice", "GET", "watch/namespaces?resourceVersion=x", "", 500}, // a watch, and x is no revision
		{"alice", "GET", "namespaces", "", 403},
		{"alice", "DELETE", "watch/namespaces", "", 405},
		{"admin", "POST", "watch/namespaces", object("Namespaces", "d"), 405},
		{"mallory", "GET", "namespaces/c", "", 403},
		{"mallory", "GET", "namespaces/b", "", 200}, // this name is read as a namespace, too
		{"mallory", "DELETE", "namespaces/b?dryRun=All", "", 200},
		{"mallory", "DELETE", "namespaces/c?dryRun=All", "", 403},
		{"mallory", "PUT", "namespaces/d", object("Namespaces", "d"), 403},
		{"mallory", "GET", "namespaces", "", 403},
		{"admin", "GET", "namespaces/b/status/x", "", 404}, // the subresource of a namespace
		{"mallory", "GET", "namespaces/c/status/x", "", 403},
	} {
		if a := s.As(c.user, c.method, base+c.path, c.body); a.Code != c.code {
			t.Errorf("%s: %s %s: %d %s, want %d", c.user, c.method, c.path, a.Code, a.Body, c.code)
		}
	}
}

// TestOneVerb: a user with one verb for an object is authorized for that verb only, whatever the path's form.
func TestOneVerb(t *testing.T) {
	s := start(t, nil)
	const base, named = "/api/v1/namespaces/b/configmaps", "/api/v1/namespaces/b/configmaps/c"
	s.Want(201, "POST", base, `{"metadata":{"name":"c"}}`)
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"} {
		user := "only-" + verb
		s.Grant(user, "b", user, `[{"verbs":["`+verb+`"],"apiGroups":[""],"resources":["configmaps"]}]`)
		s.Grant(
			"bearer", "", "as-"+user,
			`[{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["`+user+`"]}]`,
		)
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
			// A user that may watch gets the error that x is no revision.
			let := func(code int) bool { return code < 300 || c.needs == "watch" && code != 403 }
			if a := s.As("admin", c.method, c.path, c.body, "Impersonate-User", user); let(a.Code) != (c.needs == verb) ||
				c.needs != verb && a.Code != 403 {
				t.Errorf("with %s: %s %s: %d %s", verb, c.method, c.path, a.Code, a.Body)
			}
		}
	}
}

// TestCreateByUpdate: a user that may update objects can't create new ones by an update.
func TestCreateByUpdate(t *testing.T) {
	s := start(t, nil)
	const endpoints, maps = "/api/v1/namespaces/b/endpoints", "/api/v1/namespaces/b/configmaps"
	rules := func(verbs string) string {
		return `[{"verbs":` + verbs + `,"apiGroups":[""],"resources":["endpoints","configmaps"]}]`
	}
	s.Grant("alice", "b", "changes", rules(`["get","update","patch"]`))
	s.Grant("mallory", "b", "makes", rules(`["get","update","patch","create"]`))
	for _, c := range []struct{ method, path, body, media string }{
		{"PUT", endpoints + "/n", `{"metadata":{"name":"n"}}`, "application/json"},
		{"PUT", endpoints + "/n?dryRun=All", `{"metadata":{"name":"n"}}`, "application/json"},
		{
			"PATCH", maps + "/n?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"}}`,
			"application/apply-patch+yaml",
		},
		{
			"PATCH", maps + "/n?fieldManager=m&force=true&dryRun=All",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"}}`, "application/apply-patch+yaml",
		},
	} {
		path, _, _ := strings.Cut(c.path, "?")
		a := s.As("alice", c.method, c.path, c.body, "Content-Type", c.media)
		if a.Code != 403 || !strings.Contains(a.Status().Message, `"n" is forbidden: User "alice" cannot create resource`) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Code, a.Body)
		}
		s.Want(404, "GET", path, nil)
		if a := s.As("mallory", c.method, c.path, c.body, "Content-Type", c.media); a.Code != 201 {
			t.Errorf("%s %s by an authorized user: %d %s", c.method, c.path, a.Code, a.Body)
		}
		if !strings.Contains(c.path, "dryRun") {
			if a := s.As("alice", c.method, c.path, c.body, "Content-Type", c.media); a.Code != 200 {
				t.Errorf("%s %s of an existing object: %d %s", c.method, c.path, a.Code, a.Body)
			}
			s.Want(200, "DELETE", path, nil)
		}
	}
}

// TestSmuggling: a malformed request receives one error, and the bytes after one with an ambiguous length aren't
// processed as another request.
func TestSmuggling(t *testing.T) {
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

// TestPlainPortRejectsPages: the plain port, whose client is an administrator, serves no page of another site.
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

// TestPathSegments: an invalid segment of a path names no object, not even for an administrator (0-17). An escaped
// slash separates segments (go-restful curly.go: SelectRoute).
func TestPathSegments(t *testing.T) {
	s := start(t, nil)
	const invalid = "%s parameter invalid: %q: may not %s"
	for path, want := range map[string]string{
		"/api/v1/namespaces/a/secrets/..":             fmt.Sprintf(invalid, "Name", "..", "be '..'"),
		"/api/v1/namespaces/a/secrets/%2e":            fmt.Sprintf(invalid, "Name", ".", "be '.'"),
		"/api/v1/namespaces/a/secrets/%25":            fmt.Sprintf(invalid, "Name", "%", "contain '%'"),
		"/api/v1/namespaces/a/secrets/x%252fy":        fmt.Sprintf(invalid, "Name", "x%2fy", "contain '%'"),
		"/api/v1/namespaces/%2e%2e/secrets/x":         fmt.Sprintf(invalid, "Namespace", "..", "be '..'"),
		"/api/v1/namespaces/a/serviceaccounts/%2e%2e": fmt.Sprintf(invalid, "Name", "..", "be '..'"),
	} {
		if a := s.As("admin", "GET", path, nil); a.Code != 400 || a.Status().Message != want {
			t.Errorf("%s: %d %s", path, a.Code, a.Status().Message)
		}
	}
	for _, path := range []string{
		"/api/v1/namespaces/a/secrets/x%2fy", "/api/v1/namespaces/a%2fsecrets/secrets/x",
		"/api/v1/namespaces/a/secrets/%2f", "/api/v1/namespaces/a/secrets%2f", "/api/v1/namespaces/a/secrets/x%2f",
		"/api/v1/namespaces/a/pods/x%2fy/eviction", "/api/v1/watch/namespaces/a/secrets/x%2fy",
	} {
		for _, method := range []string{"GET", "DELETE"} {
			if a := s.As("admin", method, path, nil); a.Code != 404 {
				t.Errorf("%s %s: %d %s", method, path, a.Code, a.Body)
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
	if err := c.CloseWrite(); err != nil { // so that the server doesn't wait for more requests
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
