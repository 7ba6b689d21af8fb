package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// fanOutEvents is how many events are sent to all watchers together.
	fanOutEvents = 1000000
	// fanOutWriters is how many clients write concurrently, each as fast as it can.
	fanOutWriters = 4
	// pacedWrites is the number of writes per second in the cases with a fixed rate, and pacedWriters the number of
	// their writers.
	pacedWrites, pacedWriters = 1000, 16
	// sampled: a watcher determines the age of one in so many events.
	sampled = 32
)

// fanOut is how fast the writes of some clients reach all watchers, and the age of an event at its arrival, from before
// its write was sent. At the maximum rate the processors are saturated and everything waits; the cases with a fixed
// rate show the latency without saturation.
func (b *bench) fanOut(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		for _, c := range []fan{
			{1, fanOutWriters, 0}, {100, fanOutWriters, 0}, {100, pacedWriters, pacedWrites}, {1000, fanOutWriters, 0},
		} {
			var all []measured
			writes, size := min(b.objects, fanOutEvents/c.watchers), 0
			for run := range b.runs {
				m, n, err := t.fannedOut(ctx, c, writes, fmt.Sprintf("w%d-%d-%d", c.watchers, c.pace, run))
				if err != nil {
					return err
				}
				all, size = append(all, m), n
			}
			what := fmt.Sprintf("events of %d B to %d watchers", size, c.watchers)
			if c.pace > 0 {
				what += fmt.Sprintf(", %d writes a second", c.pace)
			}
			rows = append(rows, rowsOf(what, all).limited(b.streamLimit(ctx, c.watchers, writes, size)))
			rows = append(rows, b.broadcastRow(ctx, c, writes)...)
		}
		return nil
	})
}

// fan is one case: the writers have a fixed total rate of pace writes per second; 0 for the maximum rate.
type fan struct{ watchers, writers, pace int }

// fannedOut creates objects with a timestamp, and measures until all watchers have seen all of them. size is the size
// of an event. At a fixed rate an event's age is measured from when its write was due.
func (t *target) fannedOut(ctx context.Context, c fan, writes int, id string) (m measured, size int, err error) {
	path := t.path("configmaps")
	revision, err := t.revision(ctx, path)
	if err != nil {
		return m, 0, err
	}
	return t.fanned(ctx, c, writes, path+"?watch=1&resourceVersion="+revision, path, id)
}

// fanned is fannedOut for objects that are posted to one path and watched at another.
func (t *target) fanned(
	ctx context.Context, c fan, writes int, watch, post, id string,
) (m measured, size int, err error) {
	var mu sync.Mutex // guards ages and size
	var ages []time.Duration
	ready := make([]<-chan error, c.watchers)
	for k := range ready {
		n := 0
		var mine []time.Duration
		if ready[k], err = t.watch(ctx, watch, func(frame []byte) bool {
			if n++; n%sampled == k%sampled {
				if age, ok := age(frame); ok {
					mine = append(mine, age)
				}
			}
			if n == writes {
				mu.Lock()
				defer mu.Unlock()
				ages, size = append(ages, mine...), len(frame)
			}
			return n < writes
		}); err != nil {
			return m, 0, err
		}
	}
	before := cpuTime(t.pid)
	begun := sync.OnceValue(time.Now) // when the writers have their connections
	if _, err := t.drive(ctx, c.writers, writes, func(k *conn, i int) error {
		began, at := begun(), time.Now()
		if c.pace > 0 {
			at = began.Add(time.Duration(i) * time.Second / time.Duration(c.pace))
			time.Sleep(time.Until(at))
		}
		_, err := k.do(
			http.MethodPost, post, asJSON,
			fmt.Appendf(nil, `{"metadata":{"name":"%s-%06d"},"data":{"at":"%d"}}`, id, i, at.UnixNano()),
		)
		return err
	}); err != nil {
		return m, 0, err
	}
	for _, done := range ready {
		if err := <-done; err != nil {
			return m, 0, err
		}
	}
	took, n := time.Since(begun()), writes*c.watchers
	slices.Sort(ages)
	return measured{
		rate: float64(n) / took.Seconds(), times: timesOf(ages), cpu: (cpuTime(t.pid) - before) / time.Duration(n),
	}, size, nil
}

// age is the time since the event's object was sent.
func age(frame []byte) (time.Duration, bool) {
	_, rest, _ := bytes.Cut(frame, []byte(`"at":"`))
	text, _, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return 0, false
	}
	at, err := strconv.ParseInt(string(text), 10, 64)
	return time.Since(time.Unix(0, at)), err == nil
}

// streamLimit is how many frames per second a plain handler sends to so many clients together.
func (b *bench) streamLimit(ctx context.Context, clients, frames, size int) (rate float64) {
	if err := b.plain(ctx, func(t *target) error {
		began := time.Now()
		ready := make([]<-chan error, clients)
		for k := range ready {
			n := 0
			var err error
			if ready[k], err = t.watch(ctx, fmt.Sprintf("/%d/%d", size, frames), func([]byte) bool {
				n++
				return n < frames
			}); err != nil {
				return err
			}
		}
		for _, done := range ready {
			if err := <-done; err != nil {
				return err
			}
		}
		rate = float64(clients*frames) / time.Since(began).Seconds()
		return nil
	}); err != nil {
		return 0
	}
	return rate
}
