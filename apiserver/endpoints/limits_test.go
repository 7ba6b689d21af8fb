package endpoints_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// line is a connection on which the test writes and reads bytes.
type line struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func dial(t *testing.T, s *apiservertest.Server) *line {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &line{c, t, bufio.NewReader(c)}
}

// say sends a string. It replaces line ends by those of HTTP.
func (l *line) say(format string, args ...any) {
	l.t.Helper()
	if _, err := io.WriteString(l, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\r\n")); err != nil {
		l.t.Fatal(err)
	}
}

// receive reads a response.
func (l *line) receive() apiservertest.Answer {
	l.t.Helper()
	resp, err := http.ReadResponse(l.r, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return apiservertest.Answer{Code: resp.StatusCode, Header: resp.Header, Body: body}
}

// held is a store in which commits of one key wait.
type held struct {
	storage.Store
	key           string
	entered, done chan struct{}
}

func (h *held) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if strings.HasSuffix(t.Key, h.key) {
		h.entered <- struct{}{}
		<-h.done
	}
	return h.Store.Commit(ctx, t)
}

// TestMaxInFlight: a request above the maximum in flight is rejected. Watches don't count.
func TestMaxInFlight(t *testing.T) {
	store := &held{storagetest.Open(t), "/held", make(chan struct{}), make(chan struct{})}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.MaxInFlight = 1
	}})
	var watches []*apiservertest.Watch
	for range 3 {
		watches = append(watches, s.Watch(configmaps+"?watch=1"), s.Watch("/api/v1/watch/configmaps"))
	}
	created := make(chan apiservertest.Answer)
	go func() { created <- s.Do("POST", configmaps, `{"metadata":{"name":"held"}}`) }()
	<-store.entered
	a := must(t, s.Do("GET", configmaps, nil), http.StatusTooManyRequests)
	if st := a.Status(); a.Header.Get("Retry-After") != "1" || st.Reason != metav1.StatusReasonTooManyRequests ||
		st.Details.RetryAfterSeconds != 1 {
		t.Errorf("%v %s", a.Header, a.Body)
	}
	must(t, s.Do("GET", "/healthz", nil), http.StatusOK)
	if n := metric(t, s, "apiserver_current_inflight_requests{", `request_kind="mutating"`); n != 1 {
		t.Errorf("%v in flight", n)
	}
	more := s.Watch(configmaps + "?watch=1")
	close(store.done)
	must(t, <-created, http.StatusCreated)
	must(t, s.Do("GET", configmaps, nil), http.StatusOK)
	for _, w := range append(watches, more) {
		if e := next(t, w); e.Object.GetName() != "held" {
			t.Errorf("%v", e)
		}
	}
}

// TestSlowBodies: requests whose bodies arrive slowly occupy no seat.
func TestSlowBodies(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) { c.MaxInFlight = 1 }})
	for range 50 {
		l := dial(t, s)
		l.say(
			"POST %s HTTP/1.1\nHost: localhost\nContent-Type: application/json\nExpect: 100-continue\nContent-Length: 100\n\n",
			configmaps)
		// its body is being read
		if text, err := l.r.ReadString('\n'); err != nil || !strings.Contains(text, "100 Continue") {
			t.Fatal(text, err)
		}
	}
	must(t, s.Do("POST", configmaps, `{"metadata":{"name":"a"}}`), http.StatusCreated)
	must(t, s.Do("GET", configmaps, nil), http.StatusOK)
}

// TestRequestTimeout: 0-13. A request that receives a timeout writes nothing.
func TestRequestTimeout(t *testing.T) {
	store := storagetest.Open(t)
	apiservertest.Start(t, &apiservertest.Options{Store: store}) // creates the namespace
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.RequestTimeout = time.Nanosecond
	}})
	before, err := store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", configmaps, `{"metadata":{"name":"a"}}`},
		{"DELETE", configmaps + "/a", ""},
		{"GET", configmaps + "/a", ""},
	} {
		a := must(t, s.Do(c.method, c.path, c.body), http.StatusGatewayTimeout)
		if st := a.Status(); st.Reason != metav1.StatusReasonTimeout ||
			st.Message != "Timeout: request did not complete within requested timeout - context deadline exceeded" {
			t.Errorf("%s: %s", c.method, a.Body)
		}
	}
	must(t, s.Do("GET", configmaps, nil), http.StatusOK) // lists have no bound
	if after, err := store.Revision(t.Context()); err != nil || after != before {
		t.Errorf("revision %d after %d, %v", after, before, err)
	}
}

// TestSlowBodyEndsAtRequestTimeout: the request timeout also limits the time for the body.
func TestSlowBodyEndsAtRequestTimeout(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.RequestTimeout, c.MaxInFlight = 300*time.Millisecond, 1
	}})
	for _, method := range []string{"POST", "DELETE"} { // the latter of a collection
		l := dial(t, s)
		l.say("%s %s HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 100\n\n{\"meta", method,
			configmaps)
		a := must(t, l.receive(), http.StatusGatewayTimeout)
		if st := a.Status(); st.Reason != metav1.StatusReasonTimeout {
			t.Errorf("%s", a.Body)
		}
		must(t, s.Do("GET", configmaps, nil), http.StatusOK)
	}
	// A connection whose body arrived in time can be used for longer than the timeout.
	l := dial(t, s)
	for i := range 2 {
		body := fmt.Sprintf(`{"metadata":{"name":"a%d"}}`, i)
		l.say("POST %s HTTP/1.1\nHost: localhost\nContent-Length: %d\n\n%s", configmaps, len(body), body)
		must(t, l.receive(), http.StatusCreated)
		<-time.After(400 * time.Millisecond)
	}
}

// TestUnreadBodyBlocksNothing: a body that no handler reads does not block other requests, on any path.
func TestUnreadBodyBlocksNothing(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.RequestTimeout, c.MaxInFlight = 300*time.Millisecond, 1
	}})
	for _, request := range []string{"GET " + configmaps, "GET " + configmaps + "/none", "GET " + configmaps + "?watch=1",
		"GET " + configmaps + "?limit=x",
		"POST /version", "PUT " + configmaps, "GET /healthz", "GET /nowhere", "GET /api/v1/nowhere"} {
		l := dial(t, s)
		l.say("%s HTTP/1.1\nHost: localhost\nContent-Length: 10\n\n", request)
		if a := l.receive(); a.Code == 0 {
			t.Errorf("%s: no answer", request)
		}
		must(t, s.Do("GET", configmaps, nil), http.StatusOK)
	}
	// A watch that has a body continues beyond the time limit for bodies.
	l := dial(t, s)
	l.say("GET %s?watch=1&timeoutSeconds=1 HTTP/1.1\nHost: localhost\nContent-Length: 2\n\n{}", configmaps)
	start := time.Now()
	if a := must(t, l.receive(), http.StatusOK); time.Since(start) < 900*time.Millisecond {
		t.Errorf("it ended early: %s", a.Body)
	}
}

// TestDisconnectReleasesSeatAndWritesNothing: the client disconnects in the middle of a body.
func TestDisconnectReleasesSeatAndWritesNothing(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) { c.MaxInFlight = 1 }})
	for _, head := range []string{"Content-Length: 100\n\n", "Transfer-Encoding: chunked\n\n1a\n"} {
		l := dial(t, s)
		l.say(
			"POST %s HTTP/1.1\nHost: localhost\nContent-Type: application/json\n%s{\"metadata\":{\"name\":\"a\"}}", configmaps,
			head)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for s.Do("GET", configmaps, nil).Code == http.StatusTooManyRequests {
			if t.Context().Err() != nil {
				t.Fatal("the seat is never free again")
			}
		}
		if items := must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().Items; len(items) != 0 {
			t.Errorf("half a body created %v", items)
		}
	}
}

// unread sends a request, and reads no more than the first line of the response.
func unread(t *testing.T, s *apiservertest.Server, path string) {
	t.Helper()
	l := dial(t, s)
	if err := l.Conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	l.say("GET %s HTTP/1.1\nHost: localhost\n\n", path)
	if text, err := l.r.ReadString('\n'); err != nil || !strings.Contains(text, "200 OK") {
		t.Fatal(text, err)
	}
}

// TestUnreadResponseIsCutOff: a request whose response is not read ends.
func TestUnreadResponseIsCutOff(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = time.Second
	}})
	data := map[string]string{"k": strings.Repeat("x", 512<<10)}
	for i := range 40 { // more than the buffers of a connection hold; small responses are fast on a busy machine, too
		must(t, s.Do("POST", configmaps, configmap(fmt.Sprintf("big%d", i), data, nil), "Accept", asMetadata),
			http.StatusCreated)
	}
	unread(t, s, configmaps)
	drops(t, s, 0, "apiserver_current_inflight_requests{", `request_kind="readOnly"`)
}

// TestPanicGetsStatusAndIsCounted: in the middle of a response, a panic closes the connection.
func TestPanicGetsStatusAndIsCounted(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Debug = map[string]http.Handler{
			"/debug/early": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("early") }),
			"/debug/late": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, strings.Repeat("half", 10000))
				panic("late")
			}),
		}
	}})
	a := must(t, s.Do("GET", "/debug/early", nil), http.StatusInternalServerError)
	if st := a.Status(); st.Reason != metav1.StatusReasonInternalError ||
		!strings.HasPrefix(st.Message, "Internal error occurred: ") || strings.Contains(st.Message, "early") {
		t.Errorf("%s", a.Body)
	}
	if a, err := s.Try("GET", "/debug/late", nil); err == nil {
		t.Errorf("half of a response seems to be complete: %d, %d bytes", a.Code, len(a.Body))
	}
	must(t, s.Do("GET", configmaps, nil), http.StatusOK)
	if n := metric(t, s, "apiserver_panics_total"); n != 2 {
		t.Errorf("%v panics", n)
	}
}

// TestHealthEndpointsReportChecks checks the health endpoints of kube-apiserver, with their parameters.
func TestHealthEndpointsReportChecks(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Checks = []apiserver.Check{
			{Name: "bad", Run: func(context.Context) error { return errors.New("the reason") }},
			{Name: "good", Live: true, Run: func(context.Context) error { return nil }},
		}
	}})
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/livez", "ok", 200},
		{"/livez?verbose", "[+]ping ok\n[+]etcd ok\n[+]good ok\nlivez check passed\n", 200},
		{"/livez/", "ok", 200},
		{"/livez/good", "ok", 200},
		{"/livez/bad", "404 page not found\n", 404},
		{
			"/readyz",
			"[+]ping ok\n[+]etcd ok\n[+]informer-sync ok\n[+]shutdown ok\n[-]bad failed: reason withheld\n[+]good ok\nreadyz check failed\n",
			500,
		},
		{"/readyz?exclude=bad", "ok", 200},
		{
			"/readyz?exclude=bad&exclude=none&verbose",
			"[+]ping ok\n[+]etcd ok\n[+]informer-sync ok\n[+]shutdown ok\n[+]bad excluded: ok\n[+]good ok\nwarn: some health checks cannot be excluded: no matches for \"none\"\nreadyz check passed\n",
			200,
		},
		{"/healthz/etcd", "ok", 200},
		{"/healthz/none", "404 page not found\n", 404},
	} {
		if a := s.Do("GET", c.path, nil); a.Code != c.code || string(a.Body) != c.body ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %v %q", c.path, a.Code, a.Header, a.Body)
		}
	}
	if a := s.Do("HEAD", "/livez", nil); a.Code != 200 || len(a.Body) != 0 {
		t.Errorf("HEAD: %d %q", a.Code, a.Body)
	}
}

// TestMetricsHaveUpstreamsNames: metrics have the names of kube-apiserver. A request that is rejected before its
// handler has the labels of its resource, and one with a method that its path does not serve is counted by its verb.
func TestMetricsHaveUpstreamsNames(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 2)
	s.Do("GET", configmaps+"/none", nil)
	s.Do("POST", configmaps+"?dryRun=All", `{"metadata":{"name":"tried"}}`)
	s.Do("GET", "/api/v1/secrets", nil)
	s.Do("PATCH", configmaps+"/m00?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap"}`, "Content-Type", applyPatch)
	next(t, s.Watch(configmaps+"?watch=1"))
	must(t, s.Do("POST", configmaps, strings.Repeat(" ", 3<<20+1)), http.StatusRequestEntityTooLarge)
	must(t, s.Do("GET", configmaps+"?timeout=1ns", nil), http.StatusGatewayTimeout)
	must(t, s.Do("GET", configmaps+"?timeout=x", nil), http.StatusBadRequest)
	must(t, s.Do("POST", "/api/v1/watch/pods", nil), http.StatusMethodNotAllowed)
	for _, c := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"apiserver_request_total{", []string{
			`verb="POST"`, `resource="configmaps"`, `code="201"`, `scope="resource"`, `component="apiserver"`, `dry_run=""`,
		}, 2},
		{
			"apiserver_request_total{",
			[]string{`resource="configmaps"`, `code="201"`, `version="v1"`, `group=""`, `subresource=""`, `dry_run=""`}, 2,
		},
		{"apiserver_request_total{", []string{`verb="POST"`, `resource="configmaps"`, `code="201"`, `dry_run="All"`}, 1},
		{"apiserver_request_total{", []string{`verb="APPLY"`, `code="200"`}, 1},
		{"apiserver_request_total{", []string{`verb="LIST"`, `code="200"`, `scope="cluster"`}, 1},
		{"apiserver_request_total{", []string{`verb="GET"`, `code="404"`, `scope="resource"`}, 1},
		{"apiserver_request_total{", []string{`verb="POST"`, `resource="configmaps"`, `code="413"`}, 1},
		{"apiserver_request_total{", []string{`verb="LIST"`, `resource="configmaps"`, `code="504"`}, 1},
		{"apiserver_request_total{", []string{`verb="LIST"`, `resource="configmaps"`, `code="400"`}, 1},
		{"apiserver_request_total{", []string{`verb="POST"`, `resource="pods"`, `code="405"`}, 1},
		{"apiserver_request_duration_seconds_count{", []string{`verb="GET"`, `resource="configmaps"`}, 1},
		{"apiserver_response_sizes_count{", []string{`verb="GET"`, `resource="configmaps"`}, 1},
		{"apiserver_longrunning_requests{", []string{`verb="WATCH"`, `resource="configmaps"`}, 1},
		{"apiserver_watch_events_total{", []string{`resource="configmaps"`}, 2},
		{"apiserver_current_inflight_requests{", []string{`request_kind="readOnly"`}, 0},
	} {
		if got := metric(t, s, c.name, c.labels...); got != c.want {
			t.Errorf("%s%v: %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}

// TestSeatsOfPaths: a user whose priority level is full receives 429 for watches and for non-resource paths. An
// administrator doesn't. A watch that has sent its initial events has no seat.
func TestSeatsOfPaths(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := apiservertest.StartSecured(t, func(c *apiserver.Config) {
		c.MaxInFlight, c.RequestTimeout = 1, 400*time.Millisecond
		c.Debug = map[string]http.Handler{"/debug/held": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(entered)
			<-leave
		})}
	})
	s.Grant(
		"alice", "", "all", `[{"verbs":["*"],"nonResourceURLs":["*"]},{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`,
	)
	as := func(path string) int { return s.Do("GET", path, nil, "Impersonate-User", "alice").Code }
	s.Watch(configmaps+"?watch=1", "Impersonate-User", "alice") // continues without a seat
	held := make(chan int)
	go func() { held <- as("/debug/held") }()
	<-entered
	for _, path := range []string{"/api", "/openapi/v2", "/metrics", configmaps, configmaps + "?watch=1"} {
		if code := as(path); code != http.StatusTooManyRequests {
			t.Errorf("%s of a user: %d", path, code)
		}
	}
	for _, path := range []string{"/api", "/metrics", "/healthz"} {
		s.Want(200, "GET", path, "")
	}
	close(leave)
	if code := <-held; code != http.StatusOK {
		t.Errorf("the request that was held: %d", code)
	}
	if code := as("/api"); code != http.StatusOK {
		t.Errorf("afterwards: %d", code)
	}
}

// TestSecureLimits: a body that never ends occupies no seat, and its request ends in time. The body of an unauthorized
// request isn't read.
func TestSecureLimits(t *testing.T) {
	s := apiservertest.StartSecured(t, func(c *apiserver.Config) {
		c.MaxInFlight, c.RequestTimeout = 1, 500*time.Millisecond
	})
	open := func(token string) *line {
		t.Helper()
		c, err := tls.Dial(
			"tcp", s.Port.Listener.Addr().String(), s.Port.Client().Transport.(*http.Transport).TLSClientConfig)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		l := &line{c, t, bufio.NewReader(c)}
		l.say(
			"POST /api/v1/namespaces/a/configmaps HTTP/1.1\nHost: localhost\nAuthorization: Bearer %s\nContent-Type: application/json\nExpect: 100-continue\nContent-Length: 100\n\n",
			token)
		return l
	}
	for token, code := range map[string]int{"wrong-token": 401, "mallory-token": 403} {
		must(t, open(token).receive(), code) // with a body to come
	}
	slow := open("admin-token")
	// its body is being read
	if text, err := slow.r.ReadString('\n'); err != nil || !strings.Contains(text, "100 Continue") {
		t.Fatal(text, err)
	}
	if _, err := slow.r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	must(t, s.As("admin", "GET", "/api/v1/namespaces", nil), http.StatusOK)
	must(t, s.As("mallory", "GET", "/api/v1/namespaces", nil), http.StatusForbidden)
	must(t, slow.receive(), http.StatusGatewayTimeout)
	must(t, s.As("admin", "GET", "/api/v1/namespaces", nil), http.StatusOK)
}
