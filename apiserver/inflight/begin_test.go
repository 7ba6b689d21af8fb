package inflight_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/inflight"
)

const configmaps = "/api/v1/namespaces/default/configmaps"

// TestNoTurnWhileWaiting: requests that wait for something have no turn, so that others begin.
func TestNoTurnWhileWaiting(t *testing.T) {
	for name, wait := range map[string]func(*testing.T, *apiservertest.Server, *hanging){
		"bodies": func(t *testing.T, s *apiservertest.Server, _ *hanging) {
			for range manyRequests() {
				c := dialPlain(t, s)
				fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
					"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n", configmaps)
				line, err := bufio.NewReader(c).ReadString('\n') // it is sent when the server reads the body
				if err != nil || !strings.Contains(line, "100") {
					t.Fatalf("%q, %v", line, err)
				}
			}
		},
		"checks": func(t *testing.T, s *apiservertest.Server, h *hanging) {
			for range manyRequests() {
				c := dialPlain(t, s)
				io.WriteString(c, "GET /readyz/hangs HTTP/1.1\r\nHost: localhost\r\n\r\n")
				<-h.begun
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &hanging{begun: make(chan struct{}), end: make(chan struct{})}
			s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
				c.Checks = []apiserver.Check{{Name: "hangs", Run: h.check}}
			}})
			defer close(h.end)
			wait(t, s, h)
			if a := s.Do("GET", configmaps, nil); a.Code != http.StatusOK {
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
	}
}

// manyRequests are more than have a turn at a time.
func manyRequests() int { return inflight.Places() + 1 }

// hanging is a health check that goes on until it is ended.
type hanging struct{ begun, end chan struct{} }

func (h *hanging) check(ctx context.Context) error {
	h.begun <- struct{}{}
	select {
	case <-h.end:
	case <-ctx.Done():
	}
	return nil
}

// dialPlain connects to the plain port.
func dialPlain(t *testing.T, s *apiservertest.Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestTooManyBegin: so many requests of one owner wait for their turns, and the next are answered 429 at once, without
// a body, which a client of HTTP/2 might leave unread.
func TestTooManyBegin(t *testing.T) {
	s := apiservertest.Start(t, nil)
	h := s.API.Insecure()
	get := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/version", nil))
		return w
	}
	release, waiting := s.API.Limits().HoldPlaces()
	codes := make(chan int)
	for range inflight.MaxWaiting {
		go func() { codes <- get().Code }()
	}
	for waiting() < inflight.MaxWaiting {
		time.Sleep(100 * time.Microsecond)
	}
	if w := get(); w.Code != http.StatusTooManyRequests || w.Body.Len() > 0 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
	release()
	for range inflight.MaxWaiting {
		if code := <-codes; code != http.StatusOK {
			t.Fatal(code)
		}
	}
	if w := get(); w.Code != http.StatusOK {
		t.Errorf("after that: %d", w.Code)
	}
}
