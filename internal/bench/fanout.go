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
	// fanOutEvents is how many events all watchers together are sent.
	fanOutEvents = 1000000
	// fanOutWriters is how many clients write at the same time what the watchers see.
	fanOutWriters = 4
	// sampled is of how many events a watcher looks at one's age.
	sampled = 32
)

// fanOut is how fast the writes of some clients reach all watchers, and how old an event is, from
// before its write was sent, when it is there.
func (b *bench) fanOut(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		for _, watchers := range []int{1, 100, 1000} {
			var all []measured
			writes, size := min(b.objects, fanOutEvents/watchers), 0
			for run := range b.runs {
				m, n, err := t.fannedOut(ctx, watchers, writes, fmt.Sprintf("w%d-%d", watchers, run))
				if err != nil {
					return err
				}
				all, size = append(all, m), n
			}
			rows = append(rows, rowsOf(fmt.Sprintf("events of %d B to %d watchers", size, watchers), all).limited(b.streamLimit(ctx, watchers, writes, size)))
		}
		return nil
	})
}

// fannedOut creates objects that say when, and measures until all watchers have seen them all. size is that
// of an event.
func (t *target) fannedOut(ctx context.Context, watchers, writes int, id string) (m measured, size int, err error) {
	path := t.path("configmaps")
	revision, err := t.revision(ctx, path)
	if err != nil {
		return m, 0, err
	}
	var mu sync.Mutex // guards ages and size
	var ages []time.Duration
	ready := make([]<-chan error, watchers)
	for k := range ready {
		n := 0
		var mine []time.Duration
		if ready[k], err = t.watch(ctx, path+"?watch=1&resourceVersion="+revision, func(frame []byte) bool {
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
	before, began := cpuTime(t.pid), time.Now()
	if _, err := t.drive(ctx, fanOutWriters, writes, func(c *conn, i int) error {
		_, err := c.do(http.MethodPost, path, asJSON, fmt.Appendf(nil, `{"metadata":{"name":"%s-%06d"},"data":{"at":"%d"}}`, id, i, time.Now().UnixNano()))
		return err
	}); err != nil {
		return m, 0, err
	}
	for _, done := range ready {
		if err := <-done; err != nil {
			return m, 0, err
		}
	}
	took, n := time.Since(began), writes*watchers
	slices.Sort(ages)
	return measured{rate: float64(n) / took.Seconds(), p50: percentile(ages, 50), p99: percentile(ages, 99), cpu: (cpuTime(t.pid) - before) / time.Duration(n)}, size, nil
}

// age is how long ago the event's object was sent.
func age(frame []byte) (time.Duration, bool) {
	_, rest, _ := bytes.Cut(frame, []byte(`"at":"`))
	text, _, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return 0, false
	}
	at, err := strconv.ParseInt(string(text), 10, 64)
	return time.Since(time.Unix(0, at)), err == nil
}

// streamLimit is how many frames a second a plain handler sends to so many clients together.
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
