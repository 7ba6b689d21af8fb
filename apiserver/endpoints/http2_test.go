package endpoints_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// multiplexed serves a server over HTTP/2, too. The client has one connection.
func multiplexed(t *testing.T, s *apiservertest.Server) (get func(path string) *http.Response) {
	t.Helper()
	port := httptest.NewUnstartedServer(s.API.Insecure())
	port.EnableHTTP2 = true
	port.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 1000}
	port.StartTLS()
	t.Cleanup(func() {
		s.API.CloseWatches()
		port.Client().CloseIdleConnections()
		port.CloseClientConnections()
		port.Close()
	})
	return func(path string) *http.Response {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, port.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "identity")
		res, err := port.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.ProtoMajor != 2 {
			t.Fatalf("answered over %s", res.Proto)
		}
		return res
	}
}

// whole reads a response's whole body.
func whole(t *testing.T, res *http.Response) []byte {
	t.Helper()
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", res.Status, err)
	}
	return data
}

// TestUnreadListsOverHTTP2: lists that a client doesn't read need little memory, don't delay other requests on the
// connection, and are aborted without closing it.
func TestUnreadListsOverHTTP2(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = 2 * time.Second
	}})
	const size = 32
	for i := range size {
		must(t, s.Do(
			"POST", configmaps, configmap(fmt.Sprintf("big%d", i), map[string]string{"k": strings.Repeat("x", 512<<10)}, nil),
		), http.StatusCreated)
	}
	get := multiplexed(t, s)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const streams = 10
	var unread []*http.Response
	for range streams {
		unread = append(unread, get(configmaps))
	}
	for range 20 { // others on the same connection
		whole(t, get(configmaps+"/big0"))
	}
	runtime.GC()
	runtime.ReadMemStats(&during)
	// The client, which is in this process, buffers up to 4 MiB of each.
	if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); grown > streams*(5<<20) {
		t.Errorf("%d unread lists of %d MiB need %d MiB", streams, size/2, grown>>20)
	}
	drops(t, s, 0, "apiserver_current_inflight_requests") // the request for the metric does not count
	for _, res := range unread {
		if n, err := io.Copy(io.Discard, res.Body); err == nil {
			t.Errorf("an aborted list seems to be complete after %d bytes", n)
		}
		res.Body.Close()
	}
	whole(t, get(configmaps)) // the connection can still be used
}

// watched reads the events of a watch.
type watched struct {
	d    *json.Decoder
	last int64
}

// next returns the next event's type and the object's number.
func (w *watched) next() (typ string, n int, err error) {
	var e struct {
		Type   string
		Object struct {
			Code     int
			Metadata struct{ ResourceVersion string }
			Data     map[string]string
		}
	}
	if err := w.d.Decode(&e); err != nil {
		return "", 0, err
	}
	if e.Type == "ERROR" {
		return e.Type, e.Object.Code, nil
	}
	w.last, err = strconv.ParseInt(e.Object.Metadata.ResourceVersion, 10, 64)
	if err == nil {
		n, err = strconv.Atoi(e.Object.Data["n"])
	}
	return e.Type, n, err
}

// writes is the number of events of 256 KiB. Together they exceed the 4 MiB that a client buffers before it reads.
const writes = 48

// behindOverHTTP2 opens two watches on one connection and reads one of them while objects are written. It returns the
// stream of the other one.
func behindOverHTTP2(t *testing.T, s *apiservertest.Server, get func(string) *http.Response) *http.Response {
	t.Helper()
	start := must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().GetResourceVersion()
	slow := get(configmaps + "?watch=1&resourceVersion=" + start)
	quick := &watched{d: json.NewDecoder(get(configmaps + "?watch=1&resourceVersion=" + start).Body)}
	must(
		t, s.Do("POST", configmaps, configmap("a", map[string]string{"k": strings.Repeat("x", 256<<10), "n": "0"}, nil)),
		http.StatusCreated)
	for i := range writes {
		if _, n, err := quick.next(); err != nil || n != i {
			t.Fatalf("the quick watch: %d, %v; want %d", n, err, i)
		}
		must(t, s.Do("PATCH", configmaps+"/a", fmt.Sprintf(`{"data":{"n":"%d"}}`, i+1),
			"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), http.StatusOK)
	}
	return slow
}

// TestSlowWatchOverHTTP2: a slow watch receives 410 when its history has expired. The events before the 410 have no
// gap. Another watch on the same connection receives all events in the meantime.
func TestSlowWatchOverHTTP2(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, &apiservertest.Options{
		Cache:     cache.Options{Events: 16, TimelineEvents: 64},
		Configure: func(c *apiserver.Config) { c.WriteTimeout = 10 * time.Minute },
	})
	get := multiplexed(t, s)
	slow := behindOverHTTP2(t, s, get)
	w, seen := &watched{d: json.NewDecoder(slow.Body)}, 0
	for {
		typ, n, err := w.next()
		if typ == "ERROR" {
			if n != http.StatusGone {
				t.Errorf("the error's code is %d", n)
			}
			break
		}
		if err != nil || n != seen {
			t.Fatalf("event %d: %s %d, %v", seen, typ, n, err)
		}
		seen++
	}
	if seen == 0 || seen >= writes {
		t.Errorf("it was sent %d of %d events", seen, writes)
	}
	if rest, err := io.ReadAll(slow.Body); err != nil || len(rest) > 0 {
		t.Errorf("after the error comes %q, %v", rest, err)
	}
	// A watch from its last revision receives 410 again, as that revision has expired.
	again := &watched{d: json.NewDecoder(get(fmt.Sprintf("%s?watch=1&resourceVersion=%d", configmaps, w.last)).Body)}
	if typ, code, err := again.next(); typ != "ERROR" || code != http.StatusGone {
		t.Errorf("continuing: %s %d, %v", typ, code, err)
	}
}

// TestStalledWatchOverHTTP2: a watch that isn't read for too long is aborted. Its connection stays open. A new watch
// from the last event that was sent continues without a gap.
func TestStalledWatchOverHTTP2(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = time.Second
	}})
	get := multiplexed(t, s)
	slow := behindOverHTTP2(t, s, get)
	drops(t, s, 1, `apiserver_longrunning_requests{`, `resource="configmaps"`)
	w, seen := &watched{d: json.NewDecoder(slow.Body)}, 0
	for ; ; seen++ {
		_, n, err := w.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				t.Error("the stream ended without an error")
			}
			break
		}
		if n != seen {
			t.Fatalf("event %d is %d", seen, n)
		}
	}
	if seen == 0 || seen >= writes {
		t.Fatalf("it was sent %d of %d events", seen, writes)
	}
	on := &watched{d: json.NewDecoder(get(fmt.Sprintf("%s?watch=1&resourceVersion=%d", configmaps, w.last)).Body)}
	for ; seen <= writes; seen++ {
		if typ, n, err := on.next(); err != nil || n != seen {
			t.Fatalf("continuing at %d: %s %d, %v", seen, typ, n, err)
		}
	}
}

// TestPanicOverHTTP2: if a handler panics, the response is 500 also over HTTP/2, where responses are flushed.
func TestPanicOverHTTP2(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Debug = map[string]http.Handler{
			"/debug/early": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("early") }),
		}
	}})
	res := multiplexed(t, s)("/debug/early")
	defer res.Body.Close()
	if res.StatusCode != http.StatusInternalServerError || res.ContentLength <= 0 {
		t.Errorf("%s, %d bytes", res.Status, res.ContentLength)
	}
}
