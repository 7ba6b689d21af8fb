package endpoints_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// compressing turns the feature gate WatchListCompression on.
func compressing(c *apiserver.Config) { c.CompressWatchLists = true }

const initially = "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"

// openWatch opens a watch of ConfigMaps without decompressing it.
func openWatch(t *testing.T, s *apiservertest.Server, query, accept string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+configmaps+"?watch=1"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", accept)
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// TestWatchListCompressed: V-056. A watch that begins with a list is compressed, and a client with Go's own reader gets
// each event when it happens.
func TestWatchListCompressed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing})
	fill(t, s, 2)
	response := openWatch(t, s, initially, "br, gzip")
	h := response.Header
	if h.Get("Content-Encoding") != "gzip" || h.Get("Vary") != "Accept-Encoding" ||
		h.Get("Content-Type") != "application/json" {
		t.Fatalf("headers %v", h)
	}
	z, err := gzip.NewReader(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	events := json.NewDecoder(z)
	next := func(want int) {
		t.Helper()
		for range want {
			if err := events.Decode(&struct{ Type string }{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	next(3) // two objects and the bookmark
	for range 2 {
		patched := s.Do("PATCH", configmaps+"/m00", `{"data":{"a":"b"}}`, "Content-Type", "application/merge-patch+json")
		must(t, patched, http.StatusOK)
		must(t, s.Do("DELETE", configmaps+"/m00", nil), http.StatusOK)
		next(2)
		must(t, s.Do("POST", configmaps, configmap("m00", nil, nil)), http.StatusCreated)
		next(1)
	}
	s.API.CloseWatches()
	if err := events.Decode(&struct{ Type string }{}); err != io.EOF {
		t.Errorf("the end of the watch: %v", err)
	}
}

// TestWatchNotCompressed: other watches, other encodings, and the gate that is off.
func TestWatchNotCompressed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing})
	off := apiservertest.Start(t, nil)
	for _, c := range []struct {
		s             *apiservertest.Server
		query, accept string
	}{
		{s, "", "gzip"}, // sendInitialEvents is set by default, but the list's end does not show
		{s, "&sendInitialEvents=false&resourceVersion=0&resourceVersionMatch=NotOlderThan", "gzip"},
		{s, initially, "gzip;q=0.5"},
		{s, initially, "identity"},
		{off, initially, "gzip"},
	} {
		if h := openWatch(t, c.s, c.query, c.accept).Header; h.Get("Content-Encoding") != "" {
			t.Errorf("%s, %s: %v", c.query, c.accept, h)
		}
	}
}
