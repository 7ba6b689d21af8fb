package endpoints_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// inert are the kinds that are stored without effect, by the message of their Warning header. The list is independent
// of the table of types.
var inert = map[string]string{
	"mutatingadmissionpolicies":         "MutatingAdmissionPolicy has no effect in kubecascade yet: admission policies are not evaluated",
	"mutatingadmissionpolicybindings":   "MutatingAdmissionPolicyBinding has no effect in kubecascade yet: admission policies are not evaluated",
	"validatingadmissionpolicies":       "ValidatingAdmissionPolicy has no effect in kubecascade yet: admission policies are not evaluated",
	"validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding has no effect in kubecascade yet: admission policies are not evaluated",
}

// TestInert: the response to each write of an object that will have no effect has a Warning header, and the log has one
// line for the kind. Reads, deletes, and writes of the status have no warning.
func TestInert(t *testing.T) {
	var log logBuffer
	s := apiservertest.Start(t, &apiservertest.Options{Serving: serving(t, "api/all=true"),
		Configure: func(c *apiserver.Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		}})
	objects := minimal(t)
	for _, r := range resources.Every(nil) {
		want, ok := inert[r.Plural]
		if !ok || r.Group != "admissionregistration.k8s.io" {
			continue
		}
		obj := minimalOf(objects, r)
		collection := pathOf(r)
		name := "inert-" + strings.ReplaceAll(r.Version, ".", "")
		one := collection + "/" + name
		obj["metadata"] = map[string]any{"name": name}
		applied := map[string]any{"apiVersion": r.GroupVersion().String(), "kind": r.Kind,
			"metadata": map[string]any{"name": name, "labels": map[string]any{"by": "apply"}}}
		for _, c := range []struct {
			what, method, path, media string
			body                      any
			warned                    bool
		}{
			{"dry run", "POST", collection + "?dryRun=All", "", obj, true},
			{"create", "POST", collection, "", obj, true},
			{"get", "GET", one, "", nil, false},
			{"list", "GET", collection, "", nil, false},
			{"merge patch", "PATCH", one, mergePatch, `{"metadata":{"labels":{"a":"b"}}}`, true},
			{"apply", "PATCH", one + "?fieldManager=m", "application/apply-patch+yaml", applied, true},
			{"status", "PATCH", one + "/status", mergePatch, `{"status":{"observedGeneration":1}}`, false},
			{"delete", "DELETE", one, "", nil, false},
		} {
			if c.what == "status" && r.Subresource("status") == nil {
				continue
			}
			header := []string{}
			if c.media != "" {
				header = []string{"Content-Type", c.media}
			}
			a := s.Do(c.method, c.path, c.body, header...)
			if a.Code >= 300 {
				t.Errorf("%s, %s: %d %s", one, c.what, a.Code, a.Body)
			}
			if warned := slices.Contains(a.Header.Values("Warning"), `299 - "`+want+`"`); warned != c.warned {
				t.Errorf("%s, %s: warned %v with %q", one, c.what, warned, a.Header.Values("Warning"))
			}
		}
	}
	for plural, want := range inert {
		kind, _, _ := strings.Cut(want, " ")
		if n := strings.Count(log.String(), "kind="+kind+" "); n != 1 {
			t.Errorf("%s: the log has %d lines for it, want 1:\n%s", plural, n, log.String())
		}
	}
}

// TestInertUpdate: a PUT gets the same warning as a create; a rejected one gets none, as nothing is stored.
func TestInertUpdate(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const collection = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
	created := s.Do("POST", collection, `{"metadata":{"name":"w"},"spec":{"policyName":"p","validationActions":["Deny"]}}`)
	must(t, created, http.StatusCreated)
	obj := created.Object()
	obj.SetLabels(map[string]string{"a": "b"})
	want := []string{`299 - "` + inert["validatingadmissionpolicybindings"] + `"`}
	put := s.Do("PUT", collection+"/w", obj.Object)
	must(t, put, http.StatusOK)
	if d := cmp.Diff(want, put.Header.Values("Warning")); d != "" {
		t.Error(d)
	}
	bad := s.Do("POST", collection, `{"metadata":{"name":"x"},"spec":{}}`)
	must(t, bad, http.StatusUnprocessableEntity)
	if w := bad.Header.Values("Warning"); len(w) > 0 {
		t.Errorf("a rejected create: %q", w)
	}
}

// TestInertOthers: kinds in force are written without a warning.
func TestInertOthers(t *testing.T) {
	s := apiservertest.Start(t, nil)
	objects := minimal(t)
	for _, r := range resources.Builtin() {
		if r.Collection == "" || r.Deprecated != "" || inert[r.Plural] != "" {
			continue
		}
		a := s.Do("POST", pathOf(r)+"?dryRun=All", minimalOf(objects, r))
		for _, w := range a.Header.Values("Warning") {
			if strings.Contains(w, "no effect") {
				t.Errorf("%s: %s", pathOf(r), w)
			}
		}
	}
}

// logBuffer is a log that may be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
