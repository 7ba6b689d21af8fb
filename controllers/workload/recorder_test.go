package workload

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
	return corev1.ObjectReference{Kind: "ReplicaSet", APIVersion: "apps/v1", Namespace: "a", Name: "n",
		UID: types.UID(uid)}
}

// say correlates an Event that must be sent, and moves the time on.
func say(t *testing.T, c *correlator, uid string, e Event, at *time.Time) *corev1.Event {
	t.Helper()
	*at = at.Add(1)
	out, err := c.correlate(about(uid), e, *at)
	if err != nil || out == nil {
		t.Fatalf("%+v is dropped: %v", e, err)
	}
	return out
}

// TestRepeatedMessageIsCounted: one message is one Event, which is counted.
func TestRepeatedMessageIsCounted(t *testing.T) {
	c, at := newCorrelator("x"), epoch
	no := Event{Type: "Warning", Reason: "Failed", Message: "no"}
	first, other := say(t, c, "u", no, &at), say(t, c, "v", no, &at)
	at = at.Add(time.Minute)
	again := say(t, c, "u", no, &at)
	if first.Count != 1 || other.Count != 1 || other.Name == first.Name {
		t.Errorf("the first are %+v and %+v", first, other)
	}
	if again.Name != first.Name || again.Count != 2 || !again.FirstTimestamp.Equal(&first.FirstTimestamp) ||
		!again.LastTimestamp.Time.Equal(at) {
		t.Errorf("the repetition is %+v of %+v", again, first)
	}
}

// TestTenMessagesAreCombined: the tenth message for one reason and those after it are one Event; after ten minutes of
// silence they count again (client-go tools/record: EventAggregate).
func TestTenMessagesAreCombined(t *testing.T) {
	c, at := newCorrelator("x"), epoch
	made := func(n int) *corev1.Event {
		return say(t, c, "u", Event{Type: "Normal", Reason: "Made", Message: fmt.Sprint("pod ", n)}, &at)
	}
	names := map[string]bool{}
	for n := range 9 {
		names[made(n).Name] = true
	}
	e, f := made(9), made(10)
	if len(names) != 9 || names[e.Name] || f.Name != e.Name || f.Count != 2 ||
		f.Message != "(combined from similar events): pod 10" {
		t.Errorf("%d names, then %+v and %+v", len(names), e, f)
	}
	if e.Source.Component != "x" || e.ReportingController != "x" || e.Kind != "Event" {
		t.Errorf("a combined one is %+v", e)
	}
	at = at.Add(11 * time.Minute)
	if e := made(12); e.Message != "pod 12" {
		t.Errorf("later it is %+v", e)
	}
}

// TestEventHasFieldAndHost: an Event about a part of an object has its path and the component's node, also if it is
// combined.
func TestEventHasFieldAndHost(t *testing.T) {
	c, at := newCorrelator("kubelet"), epoch
	for n := range 11 {
		e := say(t, c, "u", Event{
			Type: "Normal", Reason: "Made", Message: fmt.Sprint(n), Field: "spec.containers{web}", Host: "n1",
		}, &at)
		if e.InvolvedObject.FieldPath != "spec.containers{web}" || e.Source.Host != "n1" || e.ReportingInstance != "n1" {
			t.Errorf("message %d: %+v", n, e)
		}
	}
}

// TestEventsAreRateLimited: 25 at once, and then one in five minutes, for each object and type. What was dropped is
// counted on the next that is sent.
func TestEventsAreRateLimited(t *testing.T) {
	c, at := newCorrelator("x"), epoch
	var last *corev1.Event
	granted := func(uid, kind string) (n int) {
		for range 100 {
			at = at.Add(1)
			e, err := c.correlate(about(uid), Event{Type: kind, Reason: "Made", Message: "it"}, at)
			if err != nil {
				t.Fatal(err)
			}
			if e != nil {
				n, last = n+1, e
			}
		}
		return n
	}
	if a, b, warnings := granted("u", "Normal"), granted("v", "Normal"), granted("u", "Warning"); a != 25 || b != 25 ||
		warnings != 25 {
		t.Errorf("%d, %d and %d", a, b, warnings)
	}
	at = at.Add(11 * time.Minute)
	if later := granted("u", "Normal"); later != 2 || last.Count != 102 {
		t.Errorf("later %d, the last with the count %d", later, last.Count)
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

// TestExpiredEventIsCreatedAgain: an Event that has expired is created again.
func TestExpiredEventIsCreatedAgain(t *testing.T) {
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
			r.Record(about("u"), Event{Type: "Normal", Reason: "Made", Message: "it"}, time.Now())
		}
		if got := counts(); fmt.Sprint(got) != "[3]" {
			t.Errorf("counts %v", got)
		}
		s.mu.Lock()
		clear(s.events)
		s.mu.Unlock()
		r.Record(about("u"), Event{Type: "Normal", Reason: "Made", Message: "it"}, time.Now())
		if got := counts(); fmt.Sprint(got) != "[4]" {
			t.Errorf("after it expired, counts %v", got)
		}
	})
}
