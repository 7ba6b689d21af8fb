package endpoints_test

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const (
	unreadBytes = "kubecascade_inflight_memory_unread_bytes"
	cutOff      = "kubecascade_inflight_memory_cut_off_total"
)

// noise is a string that can't be compressed.
func noise(n int) string {
	b := make([]byte, n*3/4)
	_, _ = rand.Read(b) // never fails
	return base64.StdEncoding.EncodeToString(b)
}

// unread sends a request of a user, and reads only the first line of the response until the test ends.
func unread(t *testing.T, s *apiservertest.Server, user, path string, header ...string) *line {
	t.Helper()
	l := dial(t, s)
	if err := l.Conn.(*net.TCPConn).SetReadBuffer(128 << 10); err != nil {
		t.Fatal(err)
	}
	l.r = bufio.NewReaderSize(l.Conn, 16)
	l.say(
		"GET %s HTTP/1.1\nHost: localhost\nImpersonate-User: %s\n%s\n", path, user, strings.Join(append(header, ""), "\n"),
	)
	if text, err := l.r.ReadString('\n'); err != nil || !strings.Contains(text, "200 OK") {
		t.Fatal(text, err)
	}
	return l
}

// hungUp waits until the server has closed the connection, and reads what it has sent before.
func (l *line) hungUp() {
	l.t.Helper()
	if err := l.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		l.t.Fatal(err)
	}
	for buf := make([]byte, 64<<10); ; {
		if _, err := l.Read(buf); err != nil {
			if e, ok := err.(net.Error); ok && e.Timeout() {
				l.t.Fatal("the server doesn't close the connection")
			}
			return
		}
	}
}

// readTo reads until it has read a string.
func (l *line) readTo(text string) {
	l.t.Helper()
	last := ""
	for buf := make([]byte, 64<<10); !strings.Contains(last, text); {
		n, err := l.Read(buf)
		if err != nil {
			l.t.Fatalf("before %s came: %v", text, err)
		}
		last = last[max(0, len(last)-len(text)):] + string(buf[:n])
	}
}

// await waits until a metric meets a condition.
func await(t *testing.T, s *apiservertest.Server, name, what string, is func(float64) bool) {
	t.Helper()
	for n := metric(t, s, name); !is(n); n = metric(t, s, name) {
		if t.Context().Err() != nil {
			t.Fatalf("%s: %v, never %s", name, n, what)
		}
	}
}

// TestUnreadLists: unread lists count with the objects that they keep in memory, the same objects once. If they are too
// many, those of the user that has most of them are aborted.
func TestUnreadLists(t *testing.T) {
	const size = 1 << 20
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout, c.MemoryInFlight = time.Hour, 80*size // 40 are for unread responses
	}})
	for i := range 10 {
		must(
			t, s.Do("POST", configmaps, configmap(fmt.Sprint("n", i), map[string]string{"k": noise(size)}, nil)),
			http.StatusCreated,
		)
	}
	changes := 0
	changed := func(user string) *line { // a list of other objects than before
		changes++
		must(t, s.Do(
			"PATCH", configmaps+"/n0", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, changes), "Content-Type", mergePatch,
		), http.StatusOK)
		return unread(t, s, user, configmaps)
	}
	other := unread(t, s, "other", configmaps)
	twin := unread(t, s, "flood", configmaps)
	await(t, s, unreadBytes, "one list", func(n float64) bool { return n >= 10*size })
	first := changed("flood")
	await(t, s, unreadBytes, "two lists", func(n float64) bool { return n >= 20*size })
	second := changed("flood")
	await(t, s, unreadBytes, "three lists", func(n float64) bool { return n >= 30*size })
	for i := range 3 { // each is aborted, as no user has more
		l := changed("flood")
		await(t, s, cutOff, "one more", func(n float64) bool { return n == float64(i+1) })
		l.hungUp()
	}
	third := changed("third") // a response of a user that has more is aborted
	await(t, s, cutOff, "four", func(n float64) bool { return n == 4 })
	cut := make(chan struct{}, 2)
	for _, l := range []*line{first, second} { // one is aborted, the other is read to its end
		go func() { l.hungUp(); cut <- struct{}{} }()
	}
	<-cut
	await(t, s, unreadBytes, "two lists", func(n float64) bool { return n > 20*size && n <= 24*size })
	for _, l := range []*line{other, twin, third} {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	await(t, s, unreadBytes, "one list again", func(n float64) bool { return n <= 12*size })
}

// watchForms are the media types of watches for large events, except Tables, which are rendered for each watch.
var watchForms = []struct{ what, accept string }{
	{"objects", "application/json"},
	{"protobuf", "application/vnd.kubernetes.protobuf"},
}

// TestUnreadWatches: unread events of watches count, in each media type.
func TestUnreadWatches(t *testing.T) {
	const size, floods = 1 << 20, 20
	for _, c := range append(
		watchForms, struct{ what, accept string }{"tables", "application/json;as=Table;g=meta.k8s.io;v=v1"},
	) {
		t.Run(c.what, func(t *testing.T) {
			if testing.Short() && c.what != "objects" {
				t.Skip("the goroutines are those of objects")
			}
			s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
				c.WriteTimeout, c.MemoryInFlight = time.Hour, 64*size
			}})
			// Each watch is for an object of its own: those of one share its events.
			watch := func(user, name string) *line {
				return unread(
					t, s, user, configmaps+"?watch=1&includeObject=Object&fieldSelector=metadata.name%3D"+name, "Accept: "+c.accept,
				)
			}
			other := watch("other", "other")
			names := []string{"other"}
			for i := range floods {
				names = append(names, fmt.Sprint("n", i))
				watch("flood", names[i+1])
			}
			for _, name := range names { // with short responses
				must(
					t,
					s.Do("POST", configmaps, configmap(name, map[string]string{"k": noise(size)}, map[string]string{"turn": "is0"})),
					http.StatusCreated,
				)
			}
			await(t, s, cutOff, "some", func(n float64) bool { return n > 0 })
			if n := metric(t, s, unreadBytes); n > 32*size {
				t.Errorf("%v bytes are counted", n)
			}
			other.readTo("is0")
		})
	}
}

// TestUnreadEvents: events that many watches send count once, and none of these watches is aborted.
func TestUnreadEvents(t *testing.T) {
	const size, watches = 1 << 20, 40
	for _, c := range watchForms {
		t.Run(c.what, func(t *testing.T) {
			s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
				c.WriteTimeout, c.MemoryInFlight = time.Hour, 64*size
			}})
			version := must(t, s.Do("POST", configmaps, configmap("n", map[string]string{
				"k": noise(size),
			}, nil)), http.StatusCreated).Object().GetResourceVersion()
			var all []*line
			for range watches {
				all = append(all, unread(t, s, "user", configmaps+"?watch=1&resourceVersion="+version, "Accept: "+c.accept))
			}
			for i := range 4 { // the first ones wait in the kernel
				must(t, s.Do(
					"PUT", configmaps+"/n",
					configmap("n", map[string]string{"k": noise(size)}, map[string]string{"turn": fmt.Sprint("is", i)}),
				), http.StatusOK)
			}
			for s.API.Limits().Sharing() < watches {
				if n := metric(t, s, cutOff); n > 0 {
					t.Fatalf("%v are aborted", n)
				}
			}
			if n := metric(t, s, unreadBytes); n < 3*size || n > 16*size {
				t.Errorf("%v bytes are counted", n)
			}
			for _, l := range all {
				l.readTo("is3")
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			await(t, s, unreadBytes, "nothing", func(n float64) bool { return n == 0 })
		})
	}
}

// TestUnreadSocket: an unread watch over a WebSocket gives up its seat while it sends its initial events, counts while
// it isn't read, and is aborted as others are.
func TestUnreadSocket(t *testing.T) {
	const size = 1 << 20
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout, c.MemoryInFlight, c.MaxInFlight = time.Hour, 64*size, 1
	}})
	for i := range 10 {
		must(
			t, s.Do("POST", configmaps, configmap(fmt.Sprint("n", i), map[string]string{"k": noise(size)}, nil)),
			http.StatusCreated,
		)
	}
	const initial = configmaps +
		"?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
	c, err := dialSocket(t, s, initial, s.URL, "Impersonate-User", "other")
	if err != nil {
		t.Fatal(err)
	}
	await(t, s, unreadBytes, "what the watch keeps", func(n float64) bool { return n >= 10*size })
	// Its seat is free: all users outside of system:masters share one.
	for s.Do("GET", configmaps+"/none", nil, "Impersonate-User", "third").Code == http.StatusTooManyRequests {
		if t.Context().Err() != nil {
			t.Fatal("no other request gets the seat")
		}
	}
	sockets := 1.0
	for n := 0.0; n == 0; n = metric(t, s, cutOff) { // more of another user than there is memory for
		_, err := dialSocket(t, s, initial, s.URL, "Impersonate-User", "flood")
		switch {
		case err == nil:
			sockets++
		case !strings.Contains(err.Error(), "bad status"):
			t.Fatal(err)
		}
	}
	await(t, s, "apiserver_longrunning_requests{", "those that are not cut off", func(n float64) bool {
		return n == sockets-metric(t, s, cutOff)
	})
	for range 10 { // the first one is complete
		var m received
		if err := message.Receive(c, &m); err != nil || len(m.data) < size {
			t.Fatalf("%d bytes: %v", len(m.data), err)
		}
	}
}
