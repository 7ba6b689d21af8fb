package filters_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
)

// events are the lines of an audit log.
type events struct {
	mu    sync.Mutex
	lines []string
	// more is closed when the next line is written.
	more chan struct{}
	// full is the error of writes, or nil if the disk has free space.
	full error
	// begun, unless nil, receives a value for each write, which then waits for a value of goOn.
	begun, goOn chan struct{}
}

func (e *events) Write(p []byte) (int, error) {
	if e.begun != nil {
		e.begun <- struct{}{}
		<-e.goOn
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.full != nil {
		return 0, e.full
	}
	e.lines = append(e.lines, string(p))
	close(e.more)
	e.more = make(chan struct{})
	return len(p), nil
}

// of waits for n events of the request with an Audit-ID.
func (e *events) of(t *testing.T, id string, n int) (found []auditv1.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		e.mu.Lock()
		lines, more := slices.Clone(e.lines), e.more
		e.mu.Unlock()
		found = nil
		for _, line := range lines {
			var ev auditv1.Event
			if err := json.Unmarshal([]byte(line), &ev); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if string(ev.AuditID) == id {
				found = append(found, ev)
			}
		}
		if len(found) >= n {
			return found
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("%s has %d events, not %d: %s", id, len(found), n, lines)
		}
	}
}

// audited starts a server with an audit log that has a policy in YAML.
func audited(
	t *testing.T, rules string, configure func(*audit.Options), server ...func(*apiserver.Config)) (*secured, *events) {
	t.Helper()
	p, err := policy.LoadPolicyFromBytes([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	o, e := audit.Defaults(), &events{more: make(chan struct{})}
	if configure != nil {
		configure(&o)
	}
	l, err := o.Log(p, e)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(c *apiserver.Config) {
		c.Audit = l
		for _, f := range server {
			f(c)
		}
	})
	return s, e
}

const metadataOnly = "omitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"

// line formats an event as in N-20 to N-24, in one line.
func line(e auditv1.Event) string {
	code, ref := "-", "-"
	if e.ResponseStatus != nil {
		code = fmt.Sprint(e.ResponseStatus.Code, " ", e.ResponseStatus.Status, " ", e.ResponseStatus.Reason)
	}
	if o := e.ObjectRef; o != nil {
		ref = strings.Join([]string{o.APIGroup, o.APIVersion, o.Namespace, o.Resource, o.Name, o.Subresource}, "/")
	}
	return fmt.Sprintf("%s %s %s by %q of %s: %s", e.Level, e.Stage, e.Verb, e.User.Username, ref, code)
}

// TestAuditEventHasAgentAddressesAndTimes: an event has the request's agent, addresses and times (N-S01).
func TestAuditEventHasAgentAddressesAndTimes(t *testing.T) {
	s, log := audited(t, metadataOnly, nil)
	const path = "/api/v1/namespaces/a/configmaps?limit=1"
	if a := s.As("admin", "GET", path, nil, "Audit-Id", "mine", "User-Agent", strings.Repeat("x", 2000),
		"X-Forwarded-For", "10.1.2.3, 10.1.2.4"); a.Code != 200 || a.Header.Get("Audit-Id") != "mine" {
		t.Fatalf("%d %v %s", a.Code, a.Header, a.Body)
	}
	e := log.of(t, "mine", 1)[0]
	if e.RequestURI != path || e.UserAgent != strings.Repeat("x", 1024)+"...TRUNCATED" ||
		!slices.Equal(e.SourceIPs, []string{"10.1.2.3", "10.1.2.4", "127.0.0.1"}) ||
		e.RequestReceivedTimestamp.IsZero() || e.StageTimestamp.Before(&e.RequestReceivedTimestamp) {
		t.Errorf("%+v", e)
	}
}

// TestAuditStages: only a watch has an event when its response begins (N-S03).
func TestAuditStages(t *testing.T) {
	s, log := audited(t, "rules: [{level: Metadata}]\n", nil)
	stages := func(id string, n int) (out []string) {
		for _, e := range log.of(t, id, n) {
			out = append(out, string(e.Stage))
		}
		return out
	}
	w := s.Watch("/api/v1/namespaces/a/configmaps?watch=1", "Audit-Id", "watch")
	// Nothing has been sent to the watch yet.
	if got := stages("watch", 2); !slices.Equal(got, []string{"RequestReceived", "ResponseStarted"}) {
		t.Error(got)
	}
	w.Close()
	if got := stages("watch", 3); !slices.Equal(got, []string{"RequestReceived", "ResponseStarted", "ResponseComplete"}) {
		t.Error(got)
	}
	s.As("admin", "GET", "/api/v1/namespaces/a/configmaps", nil, "Audit-Id", "list")
	if got := stages("list", 2); !slices.Equal(got, []string{"RequestReceived", "ResponseComplete"}) {
		t.Error(got)
	}
}

// TestAuditFullDisk: in the mode blocking-strict a request that can't be recorded is rejected, and nothing is stored;
// in the mode blocking it is served (N-S09).
func TestAuditFullDisk(t *testing.T) {
	for mode, code := range map[string]int{audit.ModeBlocking: 201, audit.ModeBlockingStrict: 500} {
		s, log := audited(t, "rules: [{level: Metadata}]\n", func(o *audit.Options) { o.Mode = mode })
		before, counted := s.Revision(), rejections(s)
		log.mu.Lock()
		log.full = errors.New("no space left on device")
		log.mu.Unlock()
		a := s.As("admin", "POST", "/api/v1/namespaces/a/configmaps", `{"metadata":{"name":"c"}}`)
		if a.Code != code || code == 500 && (s.Revision() != before || string(a.Body) !=
			`Internal Server Error: "/api/v1/namespaces/a/configmaps": failed to store audit event`+"\n") {
			t.Errorf("%s: %d %s", mode, a.Code, a.Body)
		}
		log.mu.Lock()
		log.full = nil
		log.mu.Unlock()
		metrics := s.As("admin", "GET", "/metrics", nil).Body
		for _, name := range []string{"event_total ", `error_total{plugin="log"} `, `level_total{level="Metadata"} `} {
			if !bytes.Contains(metrics, []byte("\napiserver_audit_"+name)) {
				t.Errorf("%s: /metrics does not have apiserver_audit_%s", mode, name)
			}
		}
		if n := rejections(s) - counted; (n == 1) != (code == 500) {
			t.Errorf("%s: %d requests are counted as rejected", mode, n)
		}
	}
}

// rejections returns the number of requests that all servers of the process have rejected because of their audit logs.
func rejections(s *secured) (n int) {
	for line := range strings.Lines(string(s.As("admin", "GET", "/metrics", nil).Body)) {
		if _, err := fmt.Sscanf(line, "apiserver_audit_requests_rejected_total %d", &n); err == nil {
			break
		}
	}
	return n
}

// TestAuditPanic: the last event of a request whose handler panics has the stage Panic, also for a long-running request
// (N-14).
func TestAuditPanic(t *testing.T) {
	s, log := audited(t, metadataOnly, nil, func(c *apiserver.Config) {
		c.Debug = map[string]http.Handler{
			"/debug/pprof/broken": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }),
		}
	})
	if a := s.As("admin", "GET", "/debug/pprof/broken", nil, "Audit-Id", "broken"); a.Code !=
		http.StatusInternalServerError {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	s.As("admin", "GET", "/api", nil, "Audit-Id", "next")
	log.of(t, "next", 1)
	got := log.of(t, "broken", 1)
	if want := `Metadata Panic get by "admin" of -: 500 Failure InternalError`; len(got) != 1 || line(got[0]) != want ||
		got[0].ResponseStatus.Message != "APIServer panic'd: broken" {
		t.Errorf("%+v", got)
	}
}
