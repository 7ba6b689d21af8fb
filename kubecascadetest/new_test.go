package kubecascadetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// client sends requests to a server.
type client struct {
	t   testing.TB
	url string
	c   *http.Client
}

func newClient(t testing.TB, s *kubecascade.Server) *client {
	t.Helper()
	c, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return &client{t, s.URL(), c}
}

// do sends a request and returns the response's body; the status must be as wanted.
func (c *client) do(method, path, body string, want int) string {
	c.t.Helper()
	a, err := apiservertest.Send(c.c, method, c.url+path, body)
	if err != nil || a.Code != want {
		c.t.Fatalf("%s %s: %d %v, want %d: %s", method, path, a.Code, err, want, a.Body)
	}
	return string(a.Body)
}

const maps = "/api/v1/namespaces/default/configmaps"

func uid(object string) string {
	_, rest, _ := strings.Cut(object, `"uid":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func settle(t testing.TB, s *kubecascade.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.Settle(ctx); err != nil {
		t.Fatalf("settling: %v", err)
	}
}

// TestSettleCascade: after Settle a chain of dependents is gone, and an object with another owner exists.
func TestSettleCascade(t *testing.T) {
	t.Parallel()
	s := kubecascadetest.New(t)
	c := newClient(t, s)
	const depth = 150 // the last one goes long after the answer to the deletion of the first
	owner := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, name, uid)
	}
	create := func(name, owners string) string {
		o := fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, owners)
		return uid(c.do(http.MethodPost, maps, o, 201))
	}
	first := create("c0", "")
	last, other := first, create("other", "")
	for i := 1; i <= depth; i++ {
		last = create(fmt.Sprint("c", i), owner(fmt.Sprint("c", i-1), last))
	}
	create("shared", owner(fmt.Sprint("c", depth), last)+","+owner("other", other))
	c.do(http.MethodDelete, maps+"/c0", "", 200)
	settle(t, s)
	for i := depth; i >= 0; i-- {
		c.do(http.MethodGet, fmt.Sprint(maps, "/c", i), "", 404)
	}
	if o := c.do(http.MethodGet, maps+"/shared", "", 200); !strings.Contains(o, other) || strings.Contains(o, last) {
		t.Errorf("the owners of the shared one: %s", o)
	}
}

// TestSettleIgnoresFinalizerOfClient: a namespace that waits for a finalizer doesn't keep Settle from returning.
func TestSettleIgnoresFinalizerOfClient(t *testing.T) {
	t.Parallel()
	s := kubecascadetest.New(t)
	c := newClient(t, s)
	c.do(http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"stuck"}}`, 201)
	c.do(http.MethodPost, "/api/v1/namespaces/stuck/configmaps", `{"metadata":{"name":"c","finalizers":["a.b/c"]}}`, 201)
	c.do(http.MethodDelete, "/api/v1/namespaces/stuck", "", 200)
	settle(t, s)
	if o := c.do(http.MethodGet, "/api/v1/namespaces/stuck", "", 200); !strings.Contains(o, "Terminating") {
		t.Errorf("the namespace: %s", o)
	}
	c.do(http.MethodGet, "/api/v1/namespaces/stuck/configmaps/c", "", 200)
}

const deployment = `{"metadata":{"name":"d"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"d"}},` +
	`"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`

// TestSettleChain: after Settle a Deployment has its pods, which took three controllers, and after its deletion none.
func TestSettleChain(t *testing.T) {
	t.Parallel()
	s := kubecascadetest.New(t, func(o *kubecascade.Options) { o.Simulation.Pods = true })
	c := newClient(t, s)
	c.do(http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", deployment, 201)
	settle(t, s)
	pods := c.do(http.MethodGet, "/api/v1/namespaces/default/pods", "", 200)
	if n := strings.Count(pods, `"phase":"Running"`); n != 3 {
		t.Errorf("%d pods run: %s", n, pods)
	}
	c.do(http.MethodDelete, "/apis/apps/v1/namespaces/default/deployments/d", "", 200)
	settle(t, s)
	for _, path := range []string{"/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/replicasets"} {
		if list := c.do(http.MethodGet, path, "", 200); strings.Contains(list, `"uid"`) {
			t.Errorf("left: %s", list)
		}
	}
}

// TestSettleEndsWithContext: the context limits the wait.
func TestSettleEndsWithContext(t *testing.T) {
	t.Parallel()
	s := kubecascadetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Settle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
}

// TestSettleReturnsWithoutControllers: without controllers there is nothing to wait for.
func TestSettleReturnsWithoutControllers(t *testing.T) {
	t.Parallel()
	s := kubecascadetest.New(t, func(o *kubecascade.Options) { o.Controllers.Enabled = []string{} })
	settle(t, s)
}

// recorded is a test that records what is logged, and how it fails.
type recorded struct {
	testing.TB
	cleanups []func()
	logs     []string
	fatal    string
}

func (r *recorded) Helper()                      {}
func (r *recorded) Log(args ...any)              { r.logs = append(r.logs, fmt.Sprint(args...)) }
func (r *recorded) Cleanup(f func())             { r.cleanups = append(r.cleanups, f) }
func (r *recorded) Errorf(f string, args ...any) { r.fatal = fmt.Sprintf(f, args...) }

// Fatalf implements testing.TB.
func (r *recorded) Fatalf(f string, args ...any) {
	r.Errorf(f, args...)
	runtime.Goexit()
}

// run runs a test, and its cleanups.
func (r *recorded) run(f func(t testing.TB)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	for i := range r.cleanups {
		r.cleanups[len(r.cleanups)-1-i]()
	}
}

// TestFailedStart: a test whose server can't start fails with the reason and the server's log.
func TestFailedStart(t *testing.T) {
	r := &recorded{TB: t}
	r.run(func(t testing.TB) {
		kubecascadetest.New(t, func(o *kubecascade.Options) {
			o.Log.Warn("a line of the log")
			o.Addresses.BindAddress = "here"
		})
		t.Errorf("the test continues")
	})
	if !strings.Contains(r.fatal, "Options.Addresses.BindAddress") || !strings.Contains(r.fatal, "a line of the log") {
		t.Errorf("failed with %q", r.fatal)
	}
}

// TestWarningsAreInTheTestLog: warnings are in the test's log until it ends.
func TestWarningsAreInTheTestLog(t *testing.T) {
	r := &recorded{TB: t}
	var log *slog.Logger
	r.run(func(t testing.TB) {
		kubecascadetest.New(t, func(o *kubecascade.Options) {
			log = o.Log
			o.Controllers.Enabled = []string{"token-cleaner-controller"}
		})
	})
	log.Warn("too late")
	got := strings.Join(r.logs, "\n")
	if !strings.Contains(got, "token-cleaner-controller") || strings.Contains(got, "late") {
		t.Errorf("logged: %q", got)
	}
	if r.fatal != "" {
		t.Error(r.fatal)
	}
}

// TestClockAdvances: an hour later an hourly CronJob has made a Job, writes have that time, and a token that was valid
// for an hour has expired. The client's certificate does not depend on the server's clock, and is still valid.
func TestClockAdvances(t *testing.T) {
	s := kubecascadetest.New(t)
	c := newClient(t, s)
	c.do("POST", "/apis/batch/v1/namespaces/default/cronjobs", `{"metadata":{"name":"hourly"},"spec":{
		"schedule":"0 * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never",
		"containers":[{"name":"c","image":"i"}]}}}}}}`, http.StatusCreated)
	settle(t, s)
	jobs := func() int {
		t.Helper()
		return strings.Count(c.do("GET", "/apis/batch/v1/namespaces/default/jobs", "", http.StatusOK), `"kind":"CronJob"`)
	}
	before := jobs() // one if the test runs at the full hour
	var issued struct{ Status struct{ Token string } }
	token := c.do("POST", "/api/v1/namespaces/default/serviceaccounts/default/token",
		`{"spec":{"expirationSeconds":3600}}`, http.StatusCreated)
	if err := json.Unmarshal([]byte(token), &issued); err != nil {
		t.Fatal(err)
	}
	review := func() string {
		return c.do("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
			`{"spec":{"token":"`+issued.Status.Token+`"}}`, http.StatusCreated)
	}
	if !strings.Contains(review(), `"authenticated":true`) {
		t.Errorf("a new token is not accepted: %s", review())
	}
	if err := s.Advance(-time.Second); err == nil {
		t.Error("the clock was set back")
	}
	if err := s.Advance(200 * 365 * 24 * time.Hour); err == nil {
		t.Error("the clock was put forward by 200 years")
	}
	was := s.Now()
	if err := s.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if ahead := s.Now().Sub(was); ahead < time.Hour {
		t.Errorf("the clock was put forward by %v, want an hour", ahead)
	}
	settle(t, s)
	if n := jobs(); n <= before {
		t.Errorf("%d jobs an hour later, want more than %d", n, before)
	}
	if r := review(); strings.Contains(r, `"authenticated":true`) {
		t.Errorf("the token is accepted an hour later: %s", r)
	}
	if err := s.Advance(5 * 365 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	var made struct {
		Metadata struct{ CreationTimestamp time.Time }
	}
	namespace := c.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"late"}}`, http.StatusCreated)
	if err := json.Unmarshal([]byte(namespace), &made); err != nil {
		t.Fatal(err)
	}
	if at := made.Metadata.CreationTimestamp; at.Before(was.Add(5 * 365 * 24 * time.Hour)) {
		t.Errorf("a namespace that was created 5 years later is of %v", at)
	}
}

// TestAdvanceSimulated: after a jump of a day the simulated node is ready, and its pods run on.
func TestAdvanceSimulated(t *testing.T) {
	s := kubecascadetest.New(t, func(o *kubecascade.Options) { o.Simulation.Pods = true })
	c := newClient(t, s)
	c.do("POST", "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"replicas":3,
		"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
		"spec":{"containers":[{"name":"c","image":"i"}]}}}}`, http.StatusCreated)
	settle(t, s)
	pods := func() (uids []string) {
		t.Helper()
		var list struct {
			Items []struct {
				Metadata struct{ UID string }
				Status   struct{ Phase string }
			}
		}
		if err := json.Unmarshal([]byte(c.do("GET", "/api/v1/namespaces/default/pods", "", http.StatusOK)), &list); err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Items {
			if p.Status.Phase == "Running" {
				uids = append(uids, p.Metadata.UID)
			}
		}
		return uids
	}
	before := pods()
	if len(before) != 3 {
		t.Fatalf("%d pods run, want 3", len(before))
	}
	if err := s.Advance(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	if after := pods(); !slices.Equal(after, before) {
		t.Errorf("pods a day later: %v, want %v", after, before)
	}
	if nodes := c.do("GET", "/api/v1/nodes", "", http.StatusOK); !strings.Contains(nodes, `"reason":"KubeletReady"`) ||
		strings.Contains(nodes, "node.kubernetes.io/") && strings.Contains(nodes, `"taints"`) {
		t.Errorf("the node a day later: %s", nodes)
	}
}
