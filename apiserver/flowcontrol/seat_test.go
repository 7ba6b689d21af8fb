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
		const most = mostAway * seats / 2 // the other half is for other users
		if n := served.Load(); n < most || n > most+first {
			t.Errorf("%d are being served, with %d away at most", n, most)
		}
		if c.lent["slow"] != most || !c.count("other", 1) {
			t.Errorf("one user lends %d seats, and leaves none to others", c.lent["slow"])
		}
		c.uncount("other", 1)
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

// TestAwait: requests that wait for webhooks keep no one out. Those of one user do not take all places, and those that
// wait for a place hold no seat either; there is a bound for these.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seats = 10
		c := New(seats, time.Minute, nil)
		c.Set(standard())
		var all sync.WaitGroup
		var served, calling, full atomic.Int32
		end := make(chan struct{})
		wait := func(name string) {
			all.Go(func() {
				c.Handle(t.Context(), Request{Attributes: get(user(name))}, func(s *Seat) {
					served.Add(1)
					defer s.Return()
					give, err := s.Await(t.Context())
					if err != nil {
						full.Add(1)
						return
					}
					calling.Add(1)
					<-end
					give()
					s.Return()
				})
			})
			synctest.Wait()
		}
		const most = mostAway * seats * 7 / 8 / 2
		for range 1200 {
			wait("flood")
		}
		if n := calling.Load(); n != most {
			t.Errorf("%d requests of one user call webhooks, want %d", n, most)
		}
		if n := full.Load(); n != 1200-1024-most {
			t.Errorf("%d are rejected, want %d", n, 1200-1024-most)
		}
		other := &load{c: c, u: user("other"), end: make(chan struct{}), all: &all}
		if other.start(1); other.running.Load() != 1 {
			t.Error("a request that calls no webhook has no seat")
		}
		close(other.end)
		synctest.Wait()
		if wait("other"); calling.Load() != most+1 {
			t.Error("another user's request waits for a place")
		}
		close(end)
		all.Wait()
		if c.away != 0 || c.queues["global-default"].away != 0 || c.places.Counts().Held != 0 {
			t.Errorf("%d and %d seats are away, places %+v", c.away, c.queues["global-default"].away, c.places.Counts())
		}
	})
}

// TestAwaitEnds: a request that ends while it waits for a place has no error: what it does next ends at once.
func TestAwaitEnds(t *testing.T) {
	c := New(1, time.Second, nil)
	c.Set(standard())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.Handle(t.Context(), Request{Attributes: get(user("u"))}, func(s *Seat) {
		first, err := s.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			end, err := s.Await(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
		}
		first()
		first()
	})
	if n := c.places.Counts().Held; n != 0 {
		t.Errorf("%d held", n)
	}
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
