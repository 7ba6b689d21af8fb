package flowcontrol

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeave: requests that wait for their clients to read keep no one out, up to a bound, and their seats come back.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seats = 10
		c := New(seats, time.Minute, nil)
		c.Set(standard())
		var all sync.WaitGroup
		var served, returned atomic.Int32
		leave, end := make(chan struct{}), make(chan struct{})
		for range 200 {
			all.Go(func() {
				c.Handle(context.Background(), Request{Attributes: get(user("slow"))}, func(s *Seat) {
					served.Add(1)
					<-leave
					s.Leave()
					s.Leave() // once is enough
					<-end
					s.Return()
					returned.Add(1)
				})
			})
		}
		synctest.Wait()
		first := served.Load()
		if first == 0 || first > seats {
			t.Fatalf("%d are being served", first)
		}
		for range first {
			leave <- struct{}{}
			synctest.Wait()
		}
		if n := served.Load(); n != 2*first {
			t.Errorf("%d are being served after %d have left", n, first)
		}
		other := &load{c: c, u: user("other"), end: make(chan struct{}), all: &all}
		other.start(1)
		for range 8 { // the slow user's queue is not the other's: it is served in turn
			if other.running.Load() > 0 {
				break
			}
			leave <- struct{}{}
			synctest.Wait()
		}
		if other.running.Load() != 1 {
			t.Error("another user's request waits behind those of clients that don't read")
		}
		close(other.end)
		close(leave)
		synctest.Wait()
		if n := served.Load(); n < mostAway*seats || n > mostAway*seats+first {
			t.Errorf("%d are being served, with %d away at most", n, mostAway*seats)
		}
		close(end)
		all.Wait()
		if n := returned.Load(); n != served.Load() {
			t.Errorf("%d of %d have returned", n, served.Load())
		}
		if c.away != 0 || c.queues["global-default"].away != 0 {
			t.Errorf("%d seats are still away", c.away)
		}
	})
}

// TestLeaveExempt: administrators that don't read keep no administrator out.
func TestLeaveExempt(t *testing.T) {
	c := New(1, time.Minute, nil)
	admin := get(user("admin", "system:masters"))
	ask := func(serve func(*Seat)) bool { return c.Handle(t.Context(), Request{Attributes: admin}, serve) }
	ok := ask(func(s *Seat) {
		if ask(func(*Seat) {}) {
			t.Error("two are served with one seat")
		}
		s.Leave()
		if !ask(func(*Seat) {}) {
			t.Error("a seat that was left is not given to another")
		}
		s.Return()
		if ask(func(*Seat) {}) {
			t.Error("two are served after the seat was taken back")
		}
	})
	if !ok || !ask(func(*Seat) {}) {
		t.Error("the seat is not free in the end")
	}
}

// TestLevelGone: a request whose level goes before it has its seat is served, and may leave it.
func TestLevelGone(t *testing.T) {
	c := New(40, time.Second, nil)
	c.Set(standard())
	served := false
	c.Handle(t.Context(), Request{Attributes: get(user("u")), Classified: func(Class) { c.Set(nil, nil) }}, func(s *Seat) {
		served = true
		s.Leave()
		c.Set(standard()) // another level of the name
		s.Return()
	})
	if !served || c.away != 0 {
		t.Errorf("served %v, %d seats are away", served, c.away)
	}
	if q := c.queues["global-default"]; q != nil && q.away != 0 {
		t.Errorf("%d seats of the new level are away", q.away)
	}
}

// TestLeaveTogether: seats may be left while others are taken (with the race detector).
func TestLeaveTogether(t *testing.T) {
	c := New(40, time.Minute, nil)
	c.Set(standard())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				c.Handle(t.Context(), Request{Attributes: get(user("u"))}, func(s *Seat) {
					s.Leave()
					s.Return()
				})
			}
		})
	}
	all.Wait()
	if c.away != 0 {
		t.Errorf("%d seats are away", c.away)
	}
}
