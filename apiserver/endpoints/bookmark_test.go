package endpoints_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestLastBookmark: shortly before its deadline, a watch sends a bookmark if the client allows bookmarks (H-28).
func TestLastBookmark(t *testing.T) {
	t.Parallel()
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
