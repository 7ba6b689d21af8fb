package namespace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bubble runs a test in simulated time with a controller over a server in memory. When it ends,
// the controller is stopped; a goroutine that it leaves behind fails the test.
func bubble(t *testing.T, workers int, test func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Run(ctx, s, workers, slog.New(slog.DiscardHandler))
		}()
		synctest.Wait()
		test(t, s)
		cancel()
		<-done
	})
}

func (s *server) create(t *testing.T, name string) {
	t.Helper()
	if _, err := s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

func (s *server) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.namespaces[name] != nil
}

// passes counts the passes so far; every one begins with a GET.
func (s *server) passes(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if r == "get "+name {
			n++
		}
	}
	return n
}

func (s *server) setFail(fn func(string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = fn
}

func TestEmptyNamespaceGoesAtOnce(t *testing.T) {
	bubble(t, 10, func(t *testing.T, s *server) {
		s.create(t, "a")
		s.create(t, "b")
		s.add(configMapType, "a", "x", nil)
		s.add(configMapType, "b", "x", nil)
		synctest.Wait()
		if n := s.passes("a"); n != 0 {
			t.Errorf("%d passes over a live namespace", n)
		}
		s.deleteNamespace("a")
		synctest.Wait() // J-48: no time passes
		if s.has("a") {
			t.Error("a is still there")
		}
		if !s.has("b") || len(s.objects) != 1 {
			t.Error("b or its content is gone")
		}
	})
}

func TestNamespacesThatWereDyingAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.create(t, "a")
		s.deleteNamespace("a")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go Run(ctx, s, 10, slog.New(slog.DiscardHandler))
		synctest.Wait()
		if s.has("a") {
			t.Error("a is still there")
		}
	})
}

// E-21, and that the release is noticed by its event.
func TestForeignFinalizerHoldsUntilReleased(t *testing.T) {
	bubble(t, 10, func(t *testing.T, s *server) {
		s.create(t, "a")
		s.add(widgetType, "a", "held", nil, "example.com/hold")
		s.deleteNamespace("a")
		time.Sleep(time.Hour - time.Second) // not at the moment of a pass
		if !s.has("a") {
			t.Fatal("a is gone")
		}
		// Every 16 seconds (E-13) and no oftener.
		if n := s.passes("a"); n != 225 {
			t.Errorf("%d passes in an hour", n)
		}
		time.Sleep(2 * time.Second)
		s.release(widgetType, "a", "held")
		synctest.Wait()
		if s.has("a") {
			t.Error("a is still there")
		}
	})
}

// The retry of E-13 is enough without events of changes.
func TestLostEventsAreCaughtUp(t *testing.T) {
	bubble(t, 10, func(t *testing.T, s *server) {
		s.create(t, "a")
		s.add(widgetType, "a", "held", nil, "example.com/hold")
		s.deleteNamespace("a")
		time.Sleep(time.Second)
		s.mu.Lock()
		clear(s.followers)
		s.mu.Unlock()
		s.release(widgetType, "a", "held")
		time.Sleep(16 * time.Second)
		if s.has("a") {
			t.Error("a is still there after the estimate")
		}
	})
}

func TestBrokenStreamsAreFollowedAgain(t *testing.T) {
	bubble(t, 10, func(t *testing.T, s *server) {
		down := errors.New("down")
		s.setFail(func(r string) error {
			if r == "follow" {
				return down
			}
			return nil
		})
		s.breakStreams()
		s.create(t, "a")
		s.deleteNamespace("a")
		time.Sleep(time.Hour)
		if !s.has("a") {
			t.Fatal("a is gone without an event")
		}
		tries := 0
		for _, r := range s.requests {
			if r == "follow" {
				tries++
			}
		}
		if tries > 90 { // 5 ms doubling to 60 s
			t.Errorf("%d tries to follow in an hour", tries)
		}
		s.setFail(nil)
		time.Sleep(backoff.Max)
		if s.has("a") {
			t.Error("a is still there")
		}
		// A stream that worked is followed again at once.
		s.breakStreams()
		s.create(t, "b")
		s.deleteNamespace("b")
		time.Sleep(time.Second)
		if s.has("b") {
			t.Error("b is still there")
		}
	})
}

// E-26, with workers that are all in use.
func TestManyNamespaces(t *testing.T) {
	bubble(t, 3, func(t *testing.T, s *server) {
		for i := range 100 {
			name := fmt.Sprint("ns-", i)
			s.create(t, name)
			s.add(configMapType, name, "x", nil)
		}
		s.mu.Lock()
		s.pause = 100 * time.Millisecond
		s.mu.Unlock()
		for i := range 100 {
			s.deleteNamespace(fmt.Sprint("ns-", i))
		}
		// Three collections of 100 ms each in 100 namespaces by 3 workers.
		time.Sleep(11 * time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.namespaces) != 0 {
			t.Errorf("%d namespaces are left", len(s.namespaces))
		}
		if s.most != 3 {
			t.Errorf("%d collections were deleted at once, not 3", s.most)
		}
	})
}

// E-07: back-off for the namespace that fails, none for the others.
func TestFailuresBackOff(t *testing.T) {
	bubble(t, 1, func(t *testing.T, s *server) {
		s.setFail(func(r string) error {
			if strings.HasSuffix(r, "in bad") {
				return errors.New("out of order")
			}
			return nil
		})
		s.create(t, "bad")
		s.create(t, "good")
		s.deleteNamespace("bad")
		s.deleteNamespace("good")
		synctest.Wait()
		if s.has("good") {
			t.Error("good waits for bad")
		}
		time.Sleep(time.Hour)
		if n := s.passes("bad"); n < 60 || n > 90 { // 5 ms doubling to 60 s
			t.Errorf("%d passes in an hour", n)
		}
		s.setFail(nil)
		time.Sleep(backoff.Max)
		if s.has("bad") {
			t.Error("bad is still there")
		}
	})
}

// Removals that never stop must not keep the controller busy.
func TestBusyContent(t *testing.T) {
	bubble(t, 10, func(t *testing.T, s *server) {
		s.create(t, "a")
		s.add(widgetType, "a", "held", nil, "example.com/hold")
		s.deleteNamespace("a")
		for range 60_000 {
			time.Sleep(time.Millisecond)
			s.mu.Lock()
			s.rv++
			s.emit(Event{Type: Removed, Namespace: "a", Revision: int64(s.rv)})
			s.mu.Unlock()
		}
		if n := s.passes("a"); n > 70 { // one a second, after some that doubled their distance
			t.Errorf("%d passes in a minute", n)
		}
	})
}

// E-25: a namespace of the same name that is created meanwhile is not changed.
func TestRecreatedNamespace(t *testing.T) {
	bubble(t, 10, func(t *testing.T, s *server) {
		s.create(t, "a")
		s.add(configMapType, "a", "x", nil)
		s.deleteNamespace("a")
		synctest.Wait()
		s.create(t, "a")
		s.add(configMapType, "a", "x", nil)
		time.Sleep(time.Minute)
		if !s.has("a") || len(s.objects) != 1 {
			t.Error("the second namespace, or its content, is gone")
		}
	})
}

// Run returns though requests hang, workers wait and retries are due.
func TestRunReturns(t *testing.T) {
	bubble(t, 2, func(t *testing.T, s *server) {
		s.mu.Lock()
		s.pause = time.Second
		s.mu.Unlock()
		for i := range 5 {
			name := fmt.Sprint("ns-", i)
			s.create(t, name)
			s.add(widgetType, name, "held", nil, "example.com/hold")
			s.deleteNamespace(name)
		}
		time.Sleep(1500 * time.Millisecond)
	})
}
