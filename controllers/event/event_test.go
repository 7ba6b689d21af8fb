package event

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func about(uid string) corev1.ObjectReference {
	return corev1.ObjectReference{Kind: "ReplicaSet", APIVersion: "apps/v1", Namespace: "a", Name: "n", UID: types.UID(uid)}
}

// TestRepetition: one text is one Event, which is counted.
func TestRepetition(t *testing.T) {
	var c Correlator
	first, _ := c.Correlate("x", about("u"), Event{"Warning", "Failed", "no"}, epoch, 0)
	other, _ := c.Correlate("x", about("v"), Event{"Warning", "Failed", "no"}, epoch, 1)
	again, _ := c.Correlate("x", about("u"), Event{"Warning", "Failed", "no"}, epoch.Add(time.Minute), 2)
	if first.Count != 1 || other.Count != 1 || other.Name == first.Name {
		t.Errorf("the first are %+v and %+v", first, other)
	}
	if again.Name != first.Name || again.Count != 2 || !again.FirstTimestamp.Equal(&first.FirstTimestamp) || !again.LastTimestamp.Time.Equal(epoch.Add(time.Minute)) {
		t.Errorf("the repetition is %+v of %+v", again, first)
	}
}

// TestCombination: the eleventh text for one reason and those after it are one Event; after ten minutes of
// silence they count anew.
func TestCombination(t *testing.T) {
	var c Correlator
	say := func(n int, at time.Time) *corev1.Event {
		e, ok := c.Correlate("x", about("u"), Event{"Normal", "Made", fmt.Sprint("pod ", n)}, at, uint32(n))
		if !ok {
			t.Fatalf("%d is dropped", n)
		}
		return e
	}
	names := map[string]bool{}
	for n := range 10 {
		names[say(n, epoch).Name] = true
	}
	e, f := say(10, epoch), say(11, epoch)
	if len(names) != 10 || names[e.Name] || f.Name != e.Name || f.Count != 2 || f.Message != "(combined from similar events): pod 11" {
		t.Errorf("%d names, then %+v and %+v", len(names), e, f)
	}
	if e := say(12, epoch.Add(11*time.Minute)); e.Message != "pod 12" {
		t.Errorf("later it is %+v", e)
	}
}

// TestSpam: 25 at once, and then one in five minutes, for each object.
func TestSpam(t *testing.T) {
	var c Correlator
	granted := func(uid string, at time.Time) (n int) {
		for i := range 100 {
			if _, ok := c.Correlate("x", about(uid), Event{"Normal", "Made", "it"}, at, uint32(i)); ok {
				n++
			}
		}
		return n
	}
	if a, b, later := granted("u", epoch), granted("v", epoch), granted("u", epoch.Add(11*time.Minute)); a != 25 || b != 25 || later != 2 {
		t.Errorf("%d and %d, later %d", a, b, later)
	}
}

// TestMemory: what is remembered is bounded.
func TestMemory(t *testing.T) {
	var c Correlator
	for i := range 10 * mostRemembered {
		c.Correlate("x", about(fmt.Sprint(i)), Event{"Normal", "Made", "it"}, epoch, uint32(i))
	}
	if n := len(c.told.young) + len(c.told.old); n > 2*mostRemembered {
		t.Errorf("%d Events are remembered", n)
	}
}

// store keeps Events in memory.
type store struct {
	mu     sync.Mutex // guards events
	events map[string]*corev1.Event
}

func (s *store) CreateEvent(_ context.Context, e *corev1.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[e.Name] = e
	return nil
}

func (s *store) CountEvent(_ context.Context, e *corev1.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events[e.Name] == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, e.Name)
	}
	s.events[e.Name] = e
	return nil
}

// TestRecorder: an Event that has expired is made anew.
func TestRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{events: map[string]*corev1.Event{}}
		r := NewRecorder(s, "x", slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.Run(ctx)
		counts := func() (out []int32) {
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, e := range s.events {
				out = append(out, e.Count)
			}
			return out
		}
		for range 3 {
			r.Record(about("u"), Event{"Normal", "Made", "it"}, time.Now())
		}
		if got := counts(); fmt.Sprint(got) != "[3]" {
			t.Errorf("counts %v", got)
		}
		s.mu.Lock()
		clear(s.events)
		s.mu.Unlock()
		r.Record(about("u"), Event{"Normal", "Made", "it"}, time.Now())
		if got := counts(); fmt.Sprint(got) != "[1]" {
			t.Errorf("after it expired, counts %v", got)
		}
	})
}
