package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server responds with a function, creates every namespace, and records the requests.
type server struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got = append(s.got, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")))
		s.mu.Unlock()
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			w.WriteHeader(http.StatusCreated)
		case r.URL.Path == "/readyz", strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/ref-"):
		default:
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) target(tokens map[string]string) *Target {
	admin := &http.Client{Transport: bearer("admin-token")}
	return &Target{URL: s.URL, Admin: admin, Anonymous: http.DefaultClient, Tokens: tokens}
}

// bearer is a client's token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// scenario returns a scenario with these steps.
func scenario(t *testing.T, steps string) []Scenario {
	t.Helper()
	all, err := Load(map[string][]byte{"scenarios/s.json": []byte(`{"steps":[` + steps + `]}`)}, "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStepHasCredentialsOfItsUserOnly: every step has the credentials of its user, and only those.
func TestStepHasCredentialsOfItsUserOnly(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	const answer = `"do":"request","method":"GET","expect":{"status":200,"contentType":"","body":""}`
	steps := scenario(t, `{"path":"/admin",`+answer+`},{"path":"/alice","as":"alice",`+answer+`},
		{"path":"/nobody","as":"nobody",`+answer+`},
		{"path":"/wrong","headers":{"Authorization":"Bearer wrong"},`+answer+`}`)
	rep, err := Run(t.Context(), s.target(map[string]string{"alice": "alice-token"}), steps, Options{})
	if err != nil || rep.Equal != 4 || rep.Different != 0 {
		t.Fatalf("%+v %v", rep, err)
	}
	want := []string{"GET /admin Bearer admin-token", "GET /alice Bearer alice-token", "GET /nobody",
		"GET /wrong Bearer wrong"}
	if diff := cmp.Diff(want, s.got[2:6]); diff != "" {
		t.Error(diff)
	}
	rep, err = Run(t.Context(), s.target(nil), steps, Options{})
	if err != nil || rep.Equal != 0 || rep.Skipped != 1 || rep.Results[0].Skipped != "no token of alice" {
		t.Errorf("without a token: %+v %v", rep, err)
	}
}

// TestCurlRepeatsRequestWithoutToken: the command repeats the request, and does not contain a token.
func TestCurlRepeatsRequestWithoutToken(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	rep, err := Run(t.Context(), s.target(map[string]string{"alice": "alice-token"}), scenario(t,
		`{"do":"request","method":"PATCH","path":"/x?a=b","as":"alice",
		"headers":{"Content-Type":"application/merge-patch+json"},"raw":"it's","expect":{"status":500}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "curl '" + s.URL + `/x?a=b' -X PATCH -H 'Accept: application/json' ` +
		`-H 'Content-Type: application/merge-patch+json' -H 'User-Agent: replay' ` +
		`-H "Authorization: Bearer $TOKEN" -d 'it'\''s'`
	if diff := cmp.Diff(want, rep.Results[0].Findings[0].Curl); diff != "" {
		t.Error(diff)
	}
}

// TestNoServerOrNamespaceIsAnError: without a server or a namespace there is an error.
func TestNoServerOrNamespaceIsAnError(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	steps := scenario(t, `{"do":"request","method":"GET","path":"/","expect":{}}`)
	for _, c := range []struct {
		url  string
		want error
	}{{gone.URL, ErrNoServer}, {httptest.NewServer(http.NotFoundHandler()).URL, ErrNoNamespace}} {
		to := &Target{URL: c.url, Admin: http.DefaultClient, Anonymous: http.DefaultClient}
		rep, err := Run(t.Context(), to, steps, Options{})
		if !errors.Is(err, c.want) || rep.Equal+rep.Different != 0 {
			t.Errorf("%+v %v", rep, err)
		}
	}
}

// TestMissingResponseDiffers: a request without a response differs, the next step is compared, and nothing is recorded.
func TestMissingResponseDiffers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
	})
	rep, err := Run(t.Context(), s.target(nil), scenario(t, `
		{"do":"request","method":"POST","path":"/broken","expect":{"status":200}},
		{"do":"watch","path":"/broken","count":1,"expect":{"status":200}},
		{"do":"request","method":"GET","path":"/","compare":"status","expect":{"status":200,"contentType":""}}`), Options{})
	if err != nil || rep.Different != 2 || rep.Equal != 1 || rep.Results[0].Recording != nil {
		t.Fatalf("%+v %v", rep, err)
	}
	for _, f := range rep.Results[0].Findings {
		if last := f.Differences[len(f.Differences)-1]; last.Path != "/error" || !strings.Contains(last.Answered, "EOF") {
			t.Errorf("%+v", f.Differences)
		}
	}
}

// TestWaitEndsWithFirstMatchingResponse: a wait ends with the first response that meets all conditions, or with the
// last one before the timeout.
func TestWaitEndsWithFirstMatchingResponse(t *testing.T) {
	for _, c := range []struct {
		until, timeout string
		want           int
	}{
		{`{"status":200}`, `30`, 1},
		{`{"status":200,"count":3}`, `30`, 4},
		{`{"equals":{"items/0":"second","items/1":null}}`, `30`, 2},
		{`{"equals":{"items/1":"${ns}"}}`, `30`, 3},
		{`{"status":404}`, `0.2`, 4},
	} {
		t.Run(c.until, func(t *testing.T) {
			n := 0
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				n++
				namespace := strings.TrimPrefix(r.URL.Path, "/")
				bodies := []string{`{}`, `{"items":["second"]}`, `{"items":["","` + namespace + `"]}`, `{"items":[1,2,3]}`}
				fmt.Fprint(w, bodies[min(n, 4)-1])
			})
			now := time.Now()
			steps := `{"do":"wait","path":"/${ns}","until":` + c.until + `,"timeout":` + c.timeout + `,"expect":{}}`
			rep, err := Run(t.Context(), s.target(nil), scenario(t, steps),
				Options{now: func() time.Time { return now }, sleep: func(_ context.Context, d time.Duration) { now = now.Add(d) }})
			if err != nil || n != c.want {
				t.Errorf("%d requests, want %d; %+v %v", n, c.want, rep, err)
			}
		})
	}
}

// TestScenarioIsReplayedUntilEqual: a scenario is replayed until it is equal, each time in another namespace.
func TestScenarioIsReplayedUntilEqual(t *testing.T) {
	namespaces := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if namespaces[r.URL.Path] = true; len(namespaces) < 3 {
			w.WriteHeader(http.StatusConflict)
		}
	})
	steps := scenario(t, `{"do":"request","method":"GET","path":"/${ns}","compare":"status",
		"expect":{"status":200,"contentType":""}}`)
	for _, c := range []struct{ attempts, want, different int }{{0, 1, 1}, {2, 2, 1}, {5, 3, 0}} {
		clear(namespaces)
		rep, err := Run(t.Context(), s.target(nil), steps, Options{Attempts: c.attempts})
		if err != nil || rep.Results[0].Attempts != c.want || rep.Different != c.different || len(namespaces) != c.want {
			t.Errorf("%d attempts: %+v %v", c.attempts, rep, err)
		}
	}
}

// TestSilentWatchIsComparedSoFar: the events of a watch are compared when no more events arrive.
func TestSilentWatchIsComparedSoFar(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"type":"ADDED"}`)
		_ = http.NewResponseController(w).Flush() // the client may be gone
		<-r.Context().Done()
	})
	rep, err := Run(t.Context(), s.target(nil), scenario(t, `{"do":"watch","path":"/","count":2,"timeout":0.05,
		"expect":{"status":200,"contentType":"application/json","events":[{"type":"ADDED"}]}}`), Options{})
	if err != nil || rep.Equal != 1 {
		t.Errorf("%+v %v", rep, err)
	}
}

// TestInterrupted: the namespace is deleted, and the interrupted step isn't reported as different.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	steps := scenario(t, `{"do":"request","method":"GET","path":"/","expect":{}}`)
	rep, err := Run(ctx, s.target(nil), steps, Options{})
	if !errors.Is(err, context.Canceled) || rep.Different != 0 {
		t.Errorf("%+v %v", rep, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.got[len(s.got)-1]; !strings.HasPrefix(last, "DELETE /api/v1/namespaces/ref-s-") {
		t.Errorf("the last request is %s", last)
	}
}

// TestTextReportIsLimited: the length of a text report is limited, that of a JSON report isn't.
func TestTextReportIsLimited(t *testing.T) {
	r := &Report{Server: "http://s"}
	result := Result{Scenario: "scenarios/s"}
	f := Finding{Step: 2, Title: "GET /", Curl: "curl"}
	for range 22 {
		f.Differences = append(f.Differences, Difference{Path: "/a", Recorded: strings.Repeat("x", 400)})
	}
	result.compared(f)
	result.compared(Finding{})
	r.add(result)
	var text, whole strings.Builder
	if err := errors.Join(r.WriteText(&text), r.WriteJSON(&whole)); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.HasPrefix(s, "DIFFERENT scenarios/s, step 2: GET /\n  /a\n    recorded: xxx") ||
		!strings.HasSuffix(s, "    received: nothing\n  and 2 more\n  curl\nscenarios/s: 1 equal, 1 different\n"+
			"http://s: 1 steps equal, 1 different (0 of 1 scenarios skipped)\n") ||
		strings.Contains(s, strings.Repeat("x", 301)) {
		t.Error(s)
	}
	if strings.Count(whole.String(), strings.Repeat("x", 400)) != 22 {
		t.Error(whole.String())
	}
}
