package endpoints_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestBookmarkObjects: H-28, an empty object of the kind as upstream prints it.
func TestBookmarkObjects(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for _, test := range []struct {
		path string
		want map[string]any
	}{
		{"/api/v1/secrets", map[string]any{"kind": "Secret", "apiVersion": "v1"}},
		{"/api/v1/pods", map[string]any{
			"kind": "Pod", "apiVersion": "v1", "spec": map[string]any{"containers": nil}, "status": map[string]any{},
		}},
		{"/apis/events.k8s.io/v1/events", map[string]any{"kind": "Event", "apiVersion": "events.k8s.io/v1", "eventTime": nil,
			"regarding": map[string]any{}, "deprecatedSource": map[string]any{}, "deprecatedFirstTimestamp": nil,
			"deprecatedLastTimestamp": nil}},
	} {
		t.Run(test.path, func(t *testing.T) {
			e := next(t, s.Watch(test.path+"?watch=true&allowWatchBookmarks=true"))
			if e.Type != "BOOKMARK" || e.Object.GetAnnotations()["k8s.io/initial-events-end"] != "true" ||
				e.Object.GetResourceVersion() == "" {
				t.Fatalf("%s %v", e.Type, e.Object)
			}
			delete(e.Object.Object, "metadata")
			if diff := cmp.Diff(test.want, e.Object.Object); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLastBookmark: H-28, shortly before its deadline a watch sends a bookmark, if the client has allowed bookmarks.
func TestLastBookmark(t *testing.T) {
	s := apiservertest.Start(t, nil)
	start := must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().GetResourceVersion()
	allowed := s.Watch(configmaps + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=" + start)
	silent := s.Watch(configmaps + "?watch=true&timeoutSeconds=3&resourceVersion=" + start)
	short := s.Watch(configmaps + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=2&resourceVersion=" + start)
	past := s.Watch(configmaps + "?watch=true&timeoutSeconds=-1&resourceVersion=" + start)
	moved := must(t, s.Do("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"elsewhere"}}`), http.StatusCreated).Object().GetResourceVersion()
	e := next(t, allowed)
	got, err := strconv.Atoi(e.Object.GetResourceVersion())
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := strconv.Atoi(moved); e.Type != "BOOKMARK" || got < want {
		t.Errorf("%s at %d, want a bookmark at %d or later", e.Type, got, want)
	}
	for name, w := range map[string]*apiservertest.Watch{
		"allowed": allowed, "silent": silent, "short": short, "past": past,
	} {
		if e, err := w.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v, %v, want the end", name, e, err)
		}
	}
}
