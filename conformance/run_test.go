package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/conformance"
)

// memory is a server that keeps objects until they are deleted. It has no collector, rejects cluster roles, and answers
// the first requests with 429.
type memory struct {
	mu      sync.Mutex // guards the fields below
	objects map[string]map[string]any
	busy    int
	closed  bool
	// lacks are the permissions that a SelfSubjectAccessReview denies. denies is the method that gets 403 with the
	// reason.
	lacks map[string]bool
	// stays: the namespace of a probe remains after its first DELETE. deleted has such namespaces.
	stays          bool
	deleted        map[string]bool
	denies, reason string
	// unserved are the resources whose requests get 404. discovery lists two others.
	unserved []string
}

func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body) // a client that has gone needs no answer
	}
	status := func(code int, message string) {
		answer(code, map[string]any{"kind": "Status", "message": message})
	}
	switch {
	case r.URL.Path == "/version":
		answer(200, map[string]any{"gitVersion": "v0.0.1"})
	case m.busy > 0:
		m.busy--
		w.Header().Set("Retry-After", "0")
		status(429, "too many requests")
	case m.closed:
		status(403, "not you")
	case m.unserved != nil && strings.Count(r.URL.Path, "/") < 4 && r.Method == http.MethodGet:
		answer(200, map[string]any{"resources": []any{
			map[string]any{"name": "namespaces"}, map[string]any{"name": "configmaps"},
		}})
	case slices.ContainsFunc(m.unserved, func(s string) bool { return strings.HasSuffix(r.URL.Path, "/"+s) }):
		status(404, "the server could not find the requested resource")
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") && m.lacks != nil:
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Resource, Subresource string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			status(400, err.Error())
			return
		}
		at := review.Spec.ResourceAttributes
		answer(201, map[string]any{"status": map[string]any{"allowed": !m.lacks[at.Verb+" "+at.Resource+at.Subresource]}})
	case m.denies != "" && r.Method == m.denies && strings.Count(r.URL.Path, "/") > 4:
		status(403, m.reason)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/clusterroles"):
		status(403, "not you")
	case r.URL.Query().Has("dryRun"):
		answer(201, map[string]any{})
	case r.Method == http.MethodPost:
		o := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			status(400, err.Error())
			return
		}
		metadata := o["metadata"].(map[string]any)
		metadata["uid"], metadata["resourceVersion"] = "uid-of-"+metadata["name"].(string), "1"
		m.objects[r.URL.Path+"/"+metadata["name"].(string)] = o
		answer(201, o)
	case m.objects[r.URL.Path] == nil:
		status(404, "not found")
	case r.Method == http.MethodDelete && m.stays && strings.HasSuffix(r.URL.Path, "-probe") && !m.deleted[r.URL.Path]:
		m.deleted[r.URL.Path] = true // the next DELETE removes it
		status(200, "")
	case r.Method == http.MethodDelete:
		delete(m.objects, r.URL.Path)
		status(200, "")
	default:
		answer(200, m.objects[r.URL.Path])
	}
}

func run(t *testing.T, ctx context.Context, m *memory, all ...conformance.Case) *conformance.Report {
	t.Helper()
	s := httptest.NewServer(m)
	defer s.Close()
	r, err := conformance.Run(ctx, &conformance.Client{URL: s.URL, HTTP: s.Client()}, all, nil,
		conformance.Options{Parallel: 2, Timeout: 300 * time.Millisecond, CleanUp: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func story(name string, run func(*conformance.T)) conformance.Case {
	return conformance.Case{Name: "test/" + name, Rules: []string{"D-1"}, Proves: "It is.", Run: run}
}

// TestEachOutcomeIsDistinguished: each outcome of a case is distinguished from the others, and the objects of all cases
// are deleted.
func TestEachOutcomeIsDistinguished(t *testing.T) {
	m := &memory{objects: map[string]map[string]any{}, busy: 3}
	r := run(t, t.Context(), m,
		story("passes", func(t *conformance.T) { t.Expect(t.Make(conformance.ConfigMap, "x"), conformance.Alive) }),
		story("waits", func(t *conformance.T) { t.Await(t.Make(conformance.ConfigMap, "x"), conformance.Gone) }),
		story("loses", func(t *conformance.T) {
			x := t.Make(conformance.ConfigMap, "x")
			t.Delete(x)
			t.Await(x, conformance.Terminating)
		}),
		story("is-rejected", func(t *conformance.T) { t.Delete(t.Make(conformance.ConfigMap, "x"), conformance.Background) }),
		story("has-no-right", func(t *conformance.T) { t.Make(conformance.ClusterRole, "x") }),
		story("panics", func(*conformance.T) { panic("no such field") }),
		story("is-answered-wrongly", func(t *conformance.T) {
			t.Rejected(t.TryDelete(t.Make(conformance.ConfigMap, "x")), 409, "conflict")
		}),
	)
	have := map[string]string{}
	for _, res := range r.Results {
		text := string(res.Outcome) + res.Reason
		if f := res.Failure; f != nil {
			seen, _, _ := strings.Cut(f.Seen, ", still")
			seen, _, _ = strings.Cut(seen, "\n")
			text += ": expected " + f.Expected + ", seen " + seen
		}
		have[res.Name] = text
	}
	want := map[string]string{
		"test/passes": "passed",
		"test/waits":  "failed: expected configmap x to be gone, seen it is there",
		"test/loses": "failed: expected configmap x to be there with a deletionTimestamp, seen it is gone; " +
			"the object is shown as it was last seen",
		"test/is-rejected":         "passed",
		"test/has-no-right":        "skippedno right to create clusterroles: not you",
		"test/panics":              "failed: expected the case to run, seen it panics: no such field",
		"test/is-answered-wrongly": `failed: expected the response 409 with a message that contains "conflict", seen 200: `,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if r.Passed != 2 || r.Failed != 4 || r.Skipped != 1 {
		t.Errorf("counted %d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
	}
	for path := range m.objects {
		if strings.HasPrefix(path, "/api/v1/namespaces/") && strings.Count(path, "/") == 4 {
			t.Errorf("%s is left behind", path)
		}
	}
}

// TestInterruptedCaseIsNotRunAndCleanedUp: a case that ends because the run ends is neither passed nor failed, and its
// objects are deleted.
func TestInterruptedCaseIsNotRunAndCleanedUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &memory{objects: map[string]map[string]any{}}
	r := run(t, ctx, m, story("is-cut-off", func(t *conformance.T) {
		x := t.Make(conformance.ConfigMap, "x")
		cancel()
		t.Await(x, conformance.Gone)
	}))
	if r.NotRun != 1 || r.Results[0].Outcome != conformance.NotRun {
		t.Errorf("the result is %+v", r.Results[0])
	}
	for path := range m.objects {
		if !strings.Contains(path, "/configmaps/") {
			t.Errorf("%s is left behind", path)
		}
	}
}

func TestUnreachableServerIsAnError(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, err := conformance.Run(
		t.Context(), &conformance.Client{URL: s.URL, HTTP: s.Client()}, nil, nil, conformance.Options{})
	if !errors.Is(err, conformance.ErrNoServer) {
		t.Errorf("a server without /version is: %v", err)
	}
	closed := httptest.NewServer(&memory{closed: true})
	defer closed.Close()
	_, err = conformance.Run(
		t.Context(), &conformance.Client{URL: closed.URL, HTTP: closed.Client()}, nil, nil, conformance.Options{})
	if !errors.Is(err, conformance.ErrNoRight) {
		t.Errorf("a server where no object may be created is: %v", err)
	}
}

// TestCaseWithoutPermissionIsSkipped: missing permissions are reported at the start, and cases that need them are
// skipped. If the user has the permission, a denied request is a failure.
func TestCaseWithoutPermissionIsSkipped(t *testing.T) {
	held := func(t *conformance.T) {
		x := t.Make(conformance.ConfigMap, "x", conformance.Held)
		t.Release(x)
	}
	blocking := "configmaps \"x\" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
	for _, c := range []struct {
		name    string
		m       *memory
		run     func(*conformance.T)
		outcome conformance.Outcome
		rights  string
	}{
		{
			"denied by a review", &memory{lacks: map[string]bool{"patch configmaps": true}, denies: "PATCH", reason: "no"}, held,
			conformance.Skipped, "patch configmaps",
		},
		{
			"has the right", &memory{lacks: map[string]bool{}, denies: "PATCH", reason: "cannot"}, held, conformance.Failed, "",
		},
		{"no review", &memory{denies: "PATCH", reason: "user cannot patch"}, held, conformance.Skipped, ""},
		{"another reason", &memory{denies: "PATCH", reason: "because it is being terminated"}, held, conformance.Failed, ""},
		{
			"blocks", &memory{lacks: map[string]bool{"update configmapsfinalizers": true}, denies: "PATCH", reason: blocking},
			held, conformance.Skipped, "update configmaps/finalizers",
		},
		{
			"needn't block", &memory{lacks: map[string]bool{}, denies: "PATCH", reason: blocking}, held, conformance.Failed, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.m.objects = map[string]map[string]any{}
			r := run(t, t.Context(), c.m, story("releases", c.run))
			if r.Results[0].Outcome != c.outcome || (r.Rights == "") != (c.rights == "") ||
				!strings.Contains(r.Rights, c.rights) {
				t.Errorf("%+v; rights: %q", r.Results[0], r.Rights)
			}
		})
	}
	s := httptest.NewServer(
		&memory{objects: map[string]map[string]any{}, lacks: map[string]bool{"delete namespaces": true}})
	defer s.Close()
	_, err := conformance.Run(
		t.Context(), &conformance.Client{URL: s.URL, HTTP: s.Client()}, nil, nil, conformance.Options{})
	if !errors.Is(err, conformance.ErrNoRight) {
		t.Errorf("namespaces would stay: %v", err)
	}
}

// TestCaseOfUnservedKindIsSkipped: a case whose kind is not served is skipped. A case of another kind fails after a
// 404.
func TestCaseOfUnservedKindIsSkipped(t *testing.T) {
	m := &memory{objects: map[string]map[string]any{}, unserved: []string{"jobs", "pods", "secrets"}}
	r := run(t, t.Context(), m,
		story("makes", func(t *conformance.T) { t.Make(conformance.Job, "x") }),
		story("may-make", func(t *conformance.T) { t.TryMake(conformance.Pod, "x") }),
		story("deletes-all", func(t *conformance.T) { t.DeleteCollection(conformance.Secret, "") }),
		story("is-missing", func(t *conformance.T) {
			x := t.Make(conformance.ConfigMap, "x")
			t.Delete(x)
			t.Delete(x)
		}),
	)
	var have []string
	for _, res := range r.Results {
		have = append(have, string(res.Outcome)+" "+res.Reason)
	}
	want := []string{
		"skipped the server does not serve jobs of apis/batch/v1", "skipped the server does not serve pods of api/v1",
		"skipped the server does not serve secrets of api/v1", "failed ",
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

// TestFailuresThatSayTheSameAreShownOnce: equal failures are shown once, with the names of the other cases. The reason
// of most failures precedes them.
func TestFailuresThatSayTheSameAreShownOnce(t *testing.T) {
	wait := func(name string) func(*conformance.T) {
		return func(t *conformance.T) { t.Await(t.Make(conformance.ConfigMap, name), conformance.Gone) }
	}
	lose := func(t *conformance.T) {
		x := t.Make(conformance.ConfigMap, "x")
		t.Delete(x)
		t.Expect(x, conformance.Alive)
	}
	write := func(need conformance.Need) string {
		all := []conformance.Case{
			story("one", wait("a")), story("two", wait("b")), story("three", lose), story("four", wait("a")),
			story("five", lose),
		}
		for i := range all {
			all[i].Needs = need
		}
		r := run(t, t.Context(), &memory{objects: map[string]map[string]any{}}, all...)
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	text := write(0)
	for _, want := range []string{
		"\nFAILED in the same way as test/one:\n  test/four\n", "\nFAILED test/two\n",
		"\nFAILED in the same way as test/three:\n  test/five\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "FAILED test/five") || strings.Contains(text, "NOTE") {
		t.Errorf("the report is\n%s", text)
	}
	text = write(conformance.Collector)
	if !strings.HasPrefix(text, "NOTE: no collector seems to work: ") ||
		!strings.Contains(text, "\nFAILED in the same way as test/one:\n  test/two\n  test/four\n") {
		t.Errorf("the report is\n%s", text)
	}
}

// TestCasesThatNeedAbsentPartsEndSoon: on a server without controllers each case that needs one ends soon, and the
// report names the controllers.
func TestCasesThatNeedAbsentPartsEndSoon(t *testing.T) {
	wait := func(t *conformance.T) { t.Await(t.Make(conformance.ConfigMap, "x"), conformance.Gone) }
	all := []conformance.Case{story("one", wait), story("two", wait), story("three", wait), story("four", wait)}
	for i := range all {
		all[i].Needs = []conformance.Need{conformance.Collector, conformance.Namespaces, conformance.Jobs}[i%3]
	}
	m := &memory{objects: map[string]map[string]any{}, stays: true, deleted: map[string]bool{}}
	r := run(t, t.Context(), m, all...)
	if r.Failed != 4 || r.Collector == "" || !strings.Contains(r.Namespaces, "no namespace controller seems to work") ||
		!strings.Contains(r.Jobs, "no Job controller seems to work") {
		t.Errorf("%d failed; %q; %q; %q", r.Failed, r.Collector, r.Namespaces, r.Jobs)
	}
}

// TestPageOfProxyIsNoReason: an HTML page is not reported as a reason.
func TestPageOfProxyIsNoReason(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte("<html><body>long</body></html>"))
	}))
	defer s.Close()
	_, err := conformance.Run(
		t.Context(), &conformance.Client{URL: s.URL, HTTP: s.Client()}, nil, nil, conformance.Options{})
	if err == nil || strings.Contains(err.Error(), "<") ||
		!strings.Contains(err.Error(), "502: Bad Gateway, with a page") {
		t.Error(err)
	}
}

// TestFormatsHaveTheSameContents: a report has the same contents in each format.
func TestFormatsHaveTheSameContents(t *testing.T) {
	r := run(t, t.Context(), &memory{objects: map[string]map[string]any{}},
		story("waits", func(t *conformance.T) { t.Await(t.Make(conformance.ConfigMap, "x"), conformance.Gone) }))
	var text, junit, data bytes.Buffer
	for _, err := range []error{r.WriteText(&text), r.WriteJUnit(&junit), r.WriteJSON(&data)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"FAILED test/waits\n", "\n  expected: configmap x to be gone\n", "\n      name: x\n",
		"/configmaps' -H 'Content-Type: application/json' -d '{",
	} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("the report lacks %q:\n%s", line, &text)
		}
	}
	var suite struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Class   string `xml:"classname,attr"`
			Name    string `xml:"name,attr"`
			Failure string `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	if suite.Failures != 1 || suite.Cases[0].Class != "conformance.test" || suite.Cases[0].Name != "waits" ||
		!strings.Contains(suite.Cases[0].Failure, "expected: configmap x") {
		t.Errorf("the JUnit report is\n%s", &junit)
	}
	var report struct {
		Failed  int
		Results []struct {
			Name, Outcome string
			Failure       struct{ Expected, Object string }
		}
	}
	if err := json.Unmarshal(data.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if report.Failed != 1 || report.Results[0].Name != "test/waits" ||
		!strings.Contains(report.Results[0].Failure.Object, "name: x") {
		t.Errorf("the JSON report is\n%s", &data)
	}
}
