package loopback_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// moved returns a server with n widgets that are stored in v1, and a definition that now stores in v2.
func moved(t *testing.T, n int) (*apiservertest.Server, *webhook) {
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	for i := range n {
		do(t, s, "POST", v1widgets, widget("v1", fmt.Sprintf("w%04d", i), fmt.Sprintf(`"address":"x:%d"`, i%10)))
	}
	move(t, s, "v2")
	return s, hook
}

// move changes the version that widgets are stored in.
func move(t *testing.T, s *apiservertest.Server, to string) {
	t.Helper()
	d := s.Do("GET", definitions+"/widgets.example.com", nil).Object()
	for _, v := range d.Object["spec"].(map[string]any)["versions"].([]any) {
		v := v.(map[string]any)
		v["storage"] = v["name"] == to
	}
	if a := s.Do("PUT", definitions+"/widgets.example.com", d.Object); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
}

// TestListsConvertInBatches: one answer has each object converted once at most, straight from the version
// it is stored in to the one that is asked for, and a list's objects together.
func TestListsConvertInBatches(t *testing.T) {
	apiservertest.Sequential(t)
	const n = 501
	s, hook := moved(t, n)
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	for _, c := range []struct {
		path, accept   string
		calls, objects int64
	}{
		{v2widgets, "", 2, n},
		{v2widgets, table, 2, n},
		{v2widgets, table + ",application/json;includeObject=Object", 2, n},
		{v2widgets, "application/yaml", 2, n},
		{v2widgets, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", 0, 0},
		{v2widgets + "?limit=7", "", 1, 7},
		{v2widgets + "?limit=7&fieldSelector=spec.host%3Dx", "", 1, 7},
		{v2widgets + "?limit=7&fieldSelector=spec.host%3Dy", "", 7, n}, // 7, 14, 28, 56, 112, 224 and the rest
		{v2widgets + "?fieldSelector=spec.host%3Dx", "", 2, n},
		{v2widgets + "?fieldSelector=spec.host%3Dx", table, 2, n},
		{v2widgets + "?fieldSelector=metadata.name%3Dw0003", "", 1, 1},
		{v2widgets + "/w0003", "", 1, 1},
		{v2widgets + "/w0003", table, 1, 1},
		{v1widgets, "", 0, 0},
		{v1widgets + "/w0003", "", 0, 0},
		{v1widgets, table, 0, 0},
	} {
		calls, objects := hook.calls.Load(), hook.objects.Load()
		a := s.Do("GET", c.path, nil, "Accept", c.accept)
		if calls, objects = hook.calls.Load()-calls, hook.objects.Load()-objects; a.Code != 200 || calls != c.calls ||
			objects != c.objects {
			t.Errorf(
				"GET %s as %q: %d: %d objects in %d calls, want %d in %d", c.path, c.accept, a.Code, objects, calls, c.objects,
				c.calls)
		}
	}
	for _, c := range []struct {
		query          string
		calls, objects int64
	}{{"", 2, n}, {"&fieldSelector=spec.host%3Dx", 2, n}} {
		calls, objects := hook.calls.Load(), hook.objects.Load()
		w := s.Watch(v2widgets + "?watch=1" + c.query)
		for i := range n {
			e, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e.Type != "ADDED" || e.Object.GetAPIVersion() != "example.com/v2" ||
				e.Object.GetName() != fmt.Sprintf("w%04d", i) {
				t.Fatalf("%s %v", e.Type, e.Object)
			}
		}
		if calls, objects = hook.calls.Load()-calls, hook.objects.Load()-objects; calls != c.calls || objects != c.objects {
			t.Errorf("watch%s: %d objects in %d calls, want %d in %d", c.query, objects, calls, c.objects, c.calls)
		}
	}
}

// TestLargeObjectsConvertInSmallerBatches: what a webhook is sent at once is bounded in bytes.
func TestLargeObjectsConvertInSmallerBatches(t *testing.T) {
	apiservertest.Sequential(t)
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	for i := range 6 {
		do(t, s, "POST", v1widgets, fmt.Sprintf(
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d","annotations":{"a":%q}},"spec":{"address":"x:1"}}`,
			i, strings.Repeat("a", 200<<10)))
	}
	for i := range 6 {
		do(t, s, "PATCH", v1widgets+fmt.Sprint("/w", i)+"/status",
			fmt.Sprintf(`{"status":{"text":%q}}`, strings.Repeat("b", 1<<20)))
	}
	calls := hook.calls.Load()
	if a := s.Do("GET", v2widgets, nil); len(a.List().Items) != 6 {
		t.Errorf("%d objects", len(a.List().Items))
	}
	if n := hook.calls.Load() - calls; n != 2 {
		t.Errorf("7 MiB are sent in %d reviews", n)
	}
}

// TestEventsConvertOnce: an event of a watch has its object converted once, and what it is selected by in
// the same call.
func TestEventsConvertOnce(t *testing.T) {
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	first := s.Do("POST", v1widgets, widget("v1", "a", `"address":"x:0"`)).Object()
	for _, address := range []string{"y:1", "x:2"} {
		do(t, s, "PATCH", v1widgets+"/a", `{"spec":{"address":"`+address+`"}}`)
	}
	for _, c := range []struct {
		query          string
		want           []string
		calls, objects int64
	}{
		{"", []string{"MODIFIED y 1", "MODIFIED x 2"}, 2, 2},
		{"&fieldSelector=spec.host%3Dx", []string{"DELETED x 0", "ADDED x 2"}, 2, 4},
	} {
		calls, objects := hook.calls.Load(), hook.objects.Load()
		w := s.Watch(v2widgets + "?watch=1&resourceVersion=" + first.GetResourceVersion() + c.query)
		for i, want := range c.want {
			e, err := w.Next()
			if err != nil {
				t.Fatal(err)
			}
			spec, revision := e.Object.Object["spec"].(map[string]any), e.Object.GetResourceVersion()
			if got := fmt.Sprint(e.Type, " ", spec["host"], " ", spec["port"]); got != want ||
				revision <= first.GetResourceVersion() {
				t.Errorf("watch%s: event %d is %s at %s, want %s", c.query, i, got, revision, want)
			}
		}
		if calls, objects = hook.calls.Load()-calls, hook.objects.Load()-objects; calls != c.calls || objects != c.objects {
			t.Errorf("watch%s: %d objects in %d calls, want %d in %d", c.query, objects, calls, c.objects, c.calls)
		}
	}
}

// TestWatchersShareConversions: an event is converted once a version for all who watch it, and again after
// the definition has changed; a later caller tries again after a failure.
func TestWatchersShareConversions(t *testing.T) {
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	first := s.Do("POST", v1widgets, widget("v1", "a", `"address":"x:0"`)).Object()
	do(t, s, "PATCH", v1widgets+"/a", `{"spec":{"address":"y:1"}}`)
	watch := func() string {
		e, err := s.Watch(v2widgets + "?watch=1&resourceVersion=" + first.GetResourceVersion()).Next()
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := unstructured.NestedString(e.Object.Object, "spec", "host")
		return e.Type + " " + host + " " + e.Object.GetLabels()["converted"]
	}
	calls := hook.calls.Load()
	for range 3 {
		if got := watch(); got != "MODIFIED y yes" {
			t.Errorf("got %q", got)
		}
	}
	if n := hook.calls.Load() - calls; n != 1 {
		t.Errorf("three watchers are %d calls", n)
	}
	spoil := func(_ http.ResponseWriter, r map[string]any) bool { r["result"] = map[string]any{}; return false }
	hook.spoil.Store(&spoil)
	first.SetResourceVersion(s.Do("GET", v1widgets+"/a", nil).Object().GetResourceVersion())
	do(t, s, "PATCH", v1widgets+"/a", `{"spec":{"address":"z:2"}}`)
	for range 2 {
		if got := watch(); got != "ERROR  " {
			t.Errorf("what can't be converted is sent as %q", got)
		}
	}
	hook.spoil.Store(nil)
	for range 2 {
		if got := watch(); got != "MODIFIED z yes" {
			t.Errorf("after a failure: %q", got)
		}
	}
	do(t, s, "PATCH", definitions+"/widgets.example.com", `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	if got := watch(); got != "MODIFIED  " {
		t.Errorf("after the webhook has gone: %q", got)
	}
}
