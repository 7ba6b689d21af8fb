package endpoints_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// TestWatchListCompressed: a watch that begins with a list is compressed (V-056). A client with Go's gzip reader gets
// each event immediately.
func TestWatchListCompressed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing, Handler: apiservertest.Remote})
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
		patched := s.Do("PATCH", configmaps+"/m00", `{"data":{"a":"b"}}`)
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

// eventsOf returns a function that returns the next event of a watch that begins with a list, compressed or not.
func eventsOf(t *testing.T, s *apiservertest.Server, encoding string) (next func() string) {
	t.Helper()
	var body io.Reader = openWatch(t, s, initially, encoding).Body
	if encoding == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = z
	}
	events := json.NewDecoder(body)
	return func() string {
		t.Helper()
		var e struct {
			Type   string
			Object unstructured.Unstructured
		}
		if err := events.Decode(&e); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(strings.Join([]string{e.Type, e.Object.GetName(), e.Object.GetLabels()["at"]}, " "))
	}
}

// TestCompressedEventsShared: watches that share compressed events and compressed initial events get the same bytes as
// a single watch, independent of when they begin, and of other watches that are not compressed.
func TestCompressedEventsShared(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing, Handler: apiservertest.Remote})
	fill(t, s, 60)
	s.Put(t, "/registry/configmaps/default/m55", "garbage")
	now := map[string]string{}
	for i := range 60 {
		if i != 55 {
			now[fmt.Sprintf("m%02d", i)] = ""
		}
	}
	var open []func() string
	for round := range 6 {
		fresh := eventsOf(t, s, []string{"gzip", "identity"}[round%3/2])
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if got, want := fresh(), strings.TrimSpace("ADDED "+name+" "+now[name]); got != want {
				t.Fatalf("watch %d: %q, want %q", round, got, want)
			}
		}
		if got := fresh(); got != "BOOKMARK" {
			t.Fatalf("watch %d: %q after the initial events", round, got)
		}
		open = append(open, fresh)
		changed, added, at := fmt.Sprintf("m%02d", 10*round), fmt.Sprintf("new%d", round), fmt.Sprint("r", round)
		must(t, s.Do("PATCH", configmaps+"/"+changed, `{"metadata":{"labels":{"at":"`+at+`"}}}`), http.StatusOK)
		must(t, s.Do("POST", configmaps, configmap(added, nil, nil)), http.StatusCreated)
		must(t, s.Do("DELETE", configmaps+"/m59", nil), http.StatusOK)
		must(t, s.Do("POST", configmaps, configmap("m59", nil, nil)), http.StatusCreated)
		now[changed], now[added] = at, ""
		for i, next := range open {
			for _, want := range []string{"MODIFIED " + changed + " " + at, "ADDED " + added, "DELETED m59", "ADDED m59"} {
				if got := next(); got != want {
					t.Fatalf("watch %d in round %d: %q, want %q", i, round, got, want)
				}
			}
		}
	}
}

// TestWatchNotCompressed: a watch is not compressed if it does not begin with a list, for other encodings, if the gate
// is off, and for a client on this machine.
func TestWatchNotCompressed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing, Handler: apiservertest.Remote})
	off := apiservertest.Start(t, &apiservertest.Options{Handler: apiservertest.Remote})
	local := apiservertest.Start(t, &apiservertest.Options{Configure: compressing})
	for _, c := range []struct {
		s             *apiservertest.Server
		query, accept string
	}{
		{s, "", "gzip"}, // sendInitialEvents is set by default, but no bookmark marks the end of the list
		{s, "&sendInitialEvents=false&resourceVersion=0&resourceVersionMatch=NotOlderThan", "gzip"},
		{s, initially, "gzip;q=0.5"},
		{s, initially, "identity"},
		{off, initially, "gzip"},
		{local, initially, "gzip"},
	} {
		if h := openWatch(t, c.s, c.query, c.accept).Header; h.Get("Content-Encoding") != "" {
			t.Errorf("%s, %s: %v", c.query, c.accept, h)
		}
	}
}

// TestCompressedLongEvent: watches that share an event that is long even when compressed get the whole event at once,
// without a later event.
func TestCompressedLongEvent(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: compressing, Handler: apiservertest.Remote})
	var open []func() string
	for range 2 {
		next := eventsOf(t, s, "gzip")
		if got := next(); got != "BOOKMARK" {
			t.Fatalf("%q after no initial events", got)
		}
		open = append(open, next)
	}
	noise := make([]byte, 200_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for i := range 3 {
		name := fmt.Sprint("m", i)
		long := configmap(name, nil, nil)
		long["binaryData"] = map[string][]byte{"noise": noise}
		must(t, s.Do("POST", configmaps, long), http.StatusCreated)
		for watch, next := range open {
			if got := next(); got != "ADDED "+name {
				t.Errorf("watch %d: %q", watch, got)
			}
		}
	}
}
