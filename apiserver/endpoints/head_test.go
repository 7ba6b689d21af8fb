package endpoints_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
)

// TestHeadIntake: long headers count while the request's body hasn't arrived. When there is no memory for more of one
// user, its requests are rejected. Other users are served; if they need much memory, too, that user's requests are
// aborted.
func TestHeadIntake(t *testing.T) {
	const size, most = 400 << 10, 8 << 20
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.RequestTimeout, c.MemoryInFlight = time.Hour, 2*most
	}})
	long := strings.Repeat("x", size)
	begin := func() *line {
		l := dial(t, s)
		l.say(
			"POST %s HTTP/1.1\nHost: localhost\nImpersonate-User: flood\nX-Long: %s\nContent-Type: application/json\nContent-Length: 10\n\n",
			configmaps, long,
		)
		return l
	}
	var all []*line
	for one, n := 0.0, 0.0; n+one <= most; n = metric(t, s, unreadBytes) { // until there is no room for one more
		all = append(all, begin())
		await(t, s, unreadBytes, "one more", func(now float64) bool { one = now - n; return one > size })
	}
	if a := begin().receive(); a.Code != http.StatusTooManyRequests {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if n := metric(t, s, unreadBytes); n > most || n < most/2 {
		t.Errorf("%v bytes are counted", n)
	}
	must(t, s.Do("GET", configmaps, nil, "Impersonate-User", "other"), http.StatusOK)
	must(t, s.Do("GET", configmaps, nil, "Impersonate-User", "other", "X-Long", long), http.StatusOK)
	must(t, s.Do("GET", "/version", nil, "Impersonate-User", "other", "X-Long", long), http.StatusOK)
	for _, l := range all {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	await(t, s, unreadBytes, "nothing", func(n float64) bool { return n == 0 })
}

// TestHeadOfWatch: a watch's long headers count once.
func TestHeadOfWatch(t *testing.T) {
	const size = 400 << 10
	s := apiservertest.Start(t, nil)
	l := unread(t, s, "user", configmaps+"?watch=1", "X-Long: "+strings.Repeat("x", size))
	if n := metric(t, s, unreadBytes); n < 2*size || n > 3*size {
		t.Errorf("%v bytes are counted", n)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, s, unreadBytes, "nothing", func(n float64) bool { return n == 0 })
}

// TestHeadForbidden: a denied request with long headers gets its response, however slowly its body arrives, and ends
// then.
func TestHeadForbidden(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.RequestTimeout, c.Modes = time.Hour, []string{"RBAC"}
	}})
	l := dial(t, s)
	if err := l.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	l.say(
		"POST %s HTTP/1.1\nHost: localhost\nImpersonate-User: user\nX-Long: %s\nContent-Length: 10\n\n", configmaps,
		strings.Repeat("x", 400<<10),
	)
	if a := l.receive(); a.Code != http.StatusForbidden {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	l.hungUp()
}

// TestHeadOfLongQuery: long headers count while their request waits for its query to be parsed, so that memory bounds
// how many wait.
func TestHeadOfLongQuery(t *testing.T) {
	const size, most = 400 << 10, 4 << 20
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.RequestTimeout, c.MemoryInFlight = time.Hour, 2*most
	}})
	release, waiting := s.API.Limits().HoldTurns()
	defer release()
	long, selector := strings.Repeat("x", size), strings.Repeat("a", 60)+strings.Repeat(",b", 6000)
	begin := func() *line {
		l := dial(t, s)
		l.say("GET %s?labelSelector=%s HTTP/1.1\nHost: localhost\nX-Long: %s\n\n", configmaps, selector, long)
		return l
	}
	for one, n := 0.0, 0.0; n+one <= most; n = metric(t, s, unreadBytes) { // until there is no room for one more
		begin()
		await(t, s, unreadBytes, "one more", func(now float64) bool { one = now - n; return one > size })
	}
	if a := begin().receive(); a.Code != http.StatusTooManyRequests {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if n := waiting(authentication.Unsecured.Name); n > most/size {
		t.Errorf("%d requests wait", n)
	}
}
