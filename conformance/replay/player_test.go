package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/conformance/recorded"
)

// load returns the recorded scenarios whose path contains only.
func load(t *testing.T, only string) []Scenario {
	t.Helper()
	files, err := recorded.Read(os.DirFS("../recorded"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Load(files, only)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scenarios contain %q, %v", len(all), only, err)
	}
	return all
}

// actor is a server that responds to the steps of a scenario with the recorded responses, but with other UIDs,
// resourceVersions and times.
type actor struct {
	scenario Scenario
	// change changes a recorded response.
	change func(step int, recorded object) object
	// version is the response to /version. changes are the changes that the replay expects of later versions.
	version string
	changes []Change

	mu sync.Mutex
	// step is -1 until the namespace was created.
	step      int
	namespace string
	got       []*http.Request
}

// play replays the scenario with the actor. Only sleeps advance the clock.
func (a *actor) play(t *testing.T) *Report {
	t.Helper()
	a.step = -1
	server := httptest.NewServer(a)
	defer server.Close()
	now := time.Now()
	rep, err := Run(t.Context(), a.target(server.URL), []Scenario{a.scenario}, Options{
		Progress: func(_ string, step, _ int) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.step = step
		},
		Changes: a.changes,
		now:     func() time.Time { return now },
		sleep:   func(_ context.Context, d time.Duration) { now = now.Add(d) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func (a *actor) target(url string) *Target {
	return &Target{URL: url, Admin: http.DefaultClient, Anonymous: http.DefaultClient,
		Tokens: map[string]string{"alice": "alice-token", "bob": "bob-token"}}
}

func (a *actor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got = append(a.got, r)
	switch {
	case r.URL.Path == "/readyz":
	case r.URL.Path == "/version" && a.step < 0:
		_, _ = w.Write([]byte(a.version))
	case a.step < 0:
		var o struct{ Metadata struct{ Name string } }
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			panic(err)
		}
		a.namespace = o.Metadata.Name
		w.WriteHeader(http.StatusCreated)
	default:
		answer, _ := a.scenario.steps[a.step].Expect.any.(object)
		if a.change != nil {
			answer = a.change(a.step, answer)
		}
		answer, _ = a.actual(answer).(object)
		a.write(w, a.withSaved(answer))
	}
}

func (a *actor) write(w http.ResponseWriter, answer object) {
	if s, ok := find(answer, "contentType").(string); ok {
		w.Header().Set("Content-Type", s)
	}
	warnings, _ := find(answer, "warnings").([]any)
	for _, s := range warnings {
		w.Header().Add("Warning", s.(string))
	}
	status, _ := find(answer, "status").(json.Number).Int64()
	w.WriteHeader(int(status))
	if events, ok := find(answer, "events").([]any); ok {
		for _, e := range events {
			fmt.Fprintln(w, show(e))
		}
		return
	}
	if s, ok := find(answer, "body").(string); ok {
		_, _ = io.WriteString(w, s) // the client may be gone
		return
	}
	fmt.Fprint(w, show(find(answer, "body")))
}

var given = regexp.MustCompile(`\$\{\w+\}|UID-\d+|TIME|^RV-\d+$|^RV$|^AGE$`)

// actual replaces names with values.
func (a *actor) actual(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for _, f := range v {
			out = append(out, field{a.text(f.key), a.actual(f.value)})
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, a.actual(x))
		}
		return out
	case string:
		return a.text(v)
	}
	return v
}

func (a *actor) text(s string) string {
	return given.ReplaceAllStringFunc(s, func(name string) string {
		n, number, _ := strings.Cut(name, "-")
		switch {
		case n == "UID":
			return uuid(name)
		case n == "RV":
			return "1" + number
		case name == "TIME":
			return "2026-01-02T03:04:05Z"
		case name == "AGE":
			return "5s"
		case name == "${ns}":
			return a.namespace
		}
		return a.saved(strings.Trim(name, "${}"))
	})
}

// withSaved returns the response with the values that the step saves, even if they are not recorded.
func (a *actor) withSaved(answer object) object {
	saves, _ := a.scenario.steps[a.step].Save.any.(object)
	for _, f := range saves {
		path := "body/" + f.value.(string)
		items, ok := find(answer, "body/items").([]any)
		if find(answer, path) == nil && (!ok || len(items) > 0) {
			answer, _ = put(answer, strings.Split(path, "/"), a.saved(f.key)).(object)
		}
	}
	return answer
}

// put returns v with another value at a path. Of a list, only the first item may be missing.
func put(v any, path []string, at any) any {
	if len(path) == 0 {
		return at
	}
	if path[0] == "0" {
		list, _ := v.([]any)
		return append([]any{put(find(v, "0"), path[1:], at)}, list[min(1, len(list)):]...)
	}
	o, _ := v.(object)
	return o.with(path[0], put(find(o, path[0]), path[1:], at))
}

// saved returns the value of a variable.
func (a *actor) saved(name string) string {
	for _, s := range a.scenario.steps {
		path, ok := find(s.Save.any, name).(string)
		if !ok {
			continue
		}
		if version, ok := find(s.Expect.any, "body/"+path).(string); ok && strings.HasPrefix(version, "RV-") {
			return a.text(version)
		}
		if strings.HasSuffix(path, "uid") {
			return uuid(name)
		}
	}
	return "saved-" + name
}

func uuid(name string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, name) // never fails
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", h.Sum64()&(1<<48-1))
}
