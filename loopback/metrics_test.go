package loopback_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// customSeries returns the series that name the group of the tests' custom resources.
func customSeries(t *testing.T, s *apiservertest.Server) (lines []string) {
	t.Helper()
	a := s.Do("GET", "/metrics", nil)
	if a.Code != http.StatusOK {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	for line := range strings.Lines(string(a.Body)) {
		if strings.Contains(line, `group="example.com"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestMetricsOfRemovedResources uses custom resources by every verb and removes their CustomResourceDefinitions,
// while watches of them are open.
func TestMetricsOfRemovedResources(t *testing.T) {
	s := defined(t, nil)
	removed := s.Watch(definitions + "?watch=1")
	const n = 5
	var watches []*apiservertest.Watch
	for i := range n {
		plural, kind := fmt.Sprintf("things%d", i), fmt.Sprintf("Thing%d", i)
		v1, v2 := version("v1", true, size, `,"subresources":{"status":{}}`), version("v2", false, size, "")
		define(t, s, widgets(plural, kind, v1, v2))
		for _, v := range []string{"v1", "v2"} {
			path := "/apis/example.com/" + v + "/namespaces/default/" + plural
			watches = append(watches, s.Watch(path+"?watch=1"))
			object := fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":%q,"metadata":{"name":"a"}}`, v, kind)
			do(t, s, "POST", path, object)
			do(t, s, "POST", path+"?dryRun=All", strings.ReplaceAll(object, `"a"`, `"b"`))
			do(t, s, "GET", path, "")
			do(t, s, "GET", path+"/a", "")
			do(t, s, "PATCH", path+"/a", `{"spec":{"size":4}}`)
			expect(t, s.Do("PUT", path+"/a", object), http.StatusUnprocessableEntity) // no resourceVersion
			if v == "v1" {
				do(t, s, "GET", path+"/a/status", "")
				do(t, s, "DELETE", path+"/a", "")
			}
			if e, err := watches[len(watches)-1].Next(); err != nil || e.Type != "ADDED" {
				t.Fatalf("%v %v", e, err)
			}
		}
	}
	if lines := customSeries(t, s); len(lines) < n*100 {
		t.Errorf("%d series while the resources are served:\n%s", len(lines), strings.Join(lines, ""))
	}
	for i := range n {
		name := fmt.Sprintf("things%d.example.com", i)
		do(t, s, "DELETE", definitions+"/"+name, "")
		gone(t, removed, name)
	}
	for _, w := range watches { // the server ends them
		if _, err := io.Copy(io.Discard, w.Body()); err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
	expect(t, s.Do("GET", "/apis/example.com/v1/namespaces/default/things0", nil), http.StatusNotFound)
	if lines := customSeries(t, s); len(lines) > 0 {
		t.Errorf("%d series of resources that are gone:\n%s", len(lines), strings.Join(lines, ""))
	}
}

// TestMetricsStartAnew: a resource that is served again starts at zero.
func TestMetricsStartAnew(t *testing.T) {
	s := defined(t, nil)
	removed := s.Watch(definitions + "?watch=1")
	for range 2 {
		define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
		do(t, s, "GET", v1widgets, "")
		found := 0
		for _, line := range customSeries(t, s) {
			list := strings.Contains(line, `scope="namespace"`) && strings.Contains(line, `verb="LIST"`)
			if list && strings.HasPrefix(line, "apiserver_request_total{") && strings.HasSuffix(line, " 1\n") {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d counters of one list:\n%s", found, strings.Join(customSeries(t, s), ""))
		}
		do(t, s, "DELETE", definitions+"/widgets.example.com", "")
		gone(t, removed, "widgets.example.com")
	}
}
