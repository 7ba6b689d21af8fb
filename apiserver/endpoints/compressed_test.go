package endpoints_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
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

// member reads one member of gzip and returns the types of its events.
func member(t *testing.T, z *gzip.Reader, from io.Reader, first bool) (types []string) {
	t.Helper()
	if !first {
		if err := z.Reset(from); err != nil {
			t.Fatalf("there is no next member: %v", err)
		}
	}
	z.Multistream(false)
	d := json.NewDecoder(z)
	for {
		var e struct{ Type string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return types
		} else if err != nil {
			t.Fatal(err)
		}
		types = append(types, e.Type)
	}
}

// TestWatchListCompressed: V-056. A watch that begins with a list is compressed in members, each of which the client
// can read when it arrives.
func TestWatchListCompressed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing})
	fill(t, s, 2)
	response := openWatch(t, s, initially, "br, gzip")
	h := response.Header
	if h.Get("Content-Encoding") != "gzip" || h.Get("Vary") != "Accept-Encoding" ||
		h.Get("Content-Type") != "application/json" {
		t.Fatalf("headers %v", h)
	}
	body := bufio.NewReader(response.Body)
	z, err := gzip.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	first := true
	next := func(want int) {
		t.Helper()
		for got := 0; got < want; first = false {
			got += len(member(t, z, body, first))
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
