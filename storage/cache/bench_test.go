package cache

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
)

// pod is a value of about 1.4 KiB, as a small pod's.
func pod(i int) []byte {
	return fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-%06d","namespace":"default",`+
		`"uid":"1f0a3c5e-7b2d-4c6f-9a10-%012d","creationTimestamp":"2024-01-01T00:00:00Z","labels":{"app":"a","n":"%d"},`+
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"%036d","controller":true}]},`+
		`"spec":{"containers":[{"name":"c","image":"i","env":[%s]}]},"status":{"phase":"Pending"}}`,
		i, i, i%7, i, strings.TrimSuffix(strings.Repeat(`{"name":"N","value":"value of a variable"},`, 23), ","))
}

func podKey(i int) string { return fmt.Sprintf("%s/pods/default/pod-%06d", root, i) }

func pods(n int) storage.Batch {
	b := storage.Batch{Reset: true, Revision: int64(n + 1)}
	for i := range n {
		b.Events = append(b.Events, storage.Event{Key: podKey(i), Value: pod(i), Revision: int64(i + 1)})
	}
	return b
}

func filled(b *testing.B, n int) *Cache {
	c := New(Options{Decoder: storage.Decoder{Root: root}})
	if err := c.Apply(pods(n)); err != nil {
		b.Fatal(err)
	}
	return c
}

// updates makes batches of updates that follow revision rev.
type updates struct {
	batch storage.Batch
	value []byte
	keys  []string
	rev   int64
}

func newUpdates(keys, size int, rev int64) *updates {
	u := &updates{value: pod(1), rev: rev, batch: storage.Batch{Events: make([]storage.Event, size)}}
	for i := range keys {
		u.keys = append(u.keys, podKey(i))
	}
	return u
}

func (u *updates) next() storage.Batch {
	for i := range u.batch.Events {
		u.rev++
		u.batch.Events[i] = storage.Event{Key: u.keys[u.rev*7919%int64(len(u.keys))], Value: u.value, Revision: u.rev}
	}
	u.batch.Revision = u.rev
	return u.batch
}

// BenchmarkApply is one update of one of 100,000 objects, alone or among others in a batch; the
// decoding of 1.4 KiB included.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1, 32} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			c := filled(b, 100_000)
			u := newUpdates(100_000, size, c.Revision())
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Apply(u.next()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/event")
		})
	}
}

// BenchmarkReset is the first load.
func BenchmarkReset(b *testing.B) {
	batch := pods(100_000)
	b.ReportAllocs()
	for b.Loop() {
		c := New(Options{Decoder: storage.Decoder{Root: root}})
		if err := c.Apply(batch); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	c := filled(b, 100_000)
	keys := newUpdates(100_000, 1, 0).keys
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if o, _ := c.Get(keys[i*7919%len(keys)]); o == nil {
			b.Fatal("missing")
		}
		i++
	}
}

// BenchmarkList is a snapshot of 2,200 objects with all of them shown.
func BenchmarkList(b *testing.B) {
	c := filled(b, 2200)
	b.ReportAllocs()
	for b.Loop() {
		s, err := c.Snapshot("pods", 0)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		s.Ascend(root+"/pods/", "", func(o *storage.Object) bool {
			n += len(o.JSON)
			return true
		})
		if n < 2200 {
			b.Fatal(n)
		}
	}
}

// BenchmarkPage is one page of 500 of 100,000 objects with the number of those that remain: at the
// newest revision, and 1,000 events ago.
func BenchmarkPage(b *testing.B) {
	for _, ago := range []int64{0, 1000} {
		b.Run(fmt.Sprintf("ago=%d", ago), func(b *testing.B) {
			c := filled(b, 100_000)
			if err := c.Apply(newUpdates(100_000, 1000, c.Revision()).next()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := c.Snapshot("pods", c.Revision()-ago)
				if err != nil {
					b.Fatal(err)
				}
				n, last := 0, ""
				s.Ascend(root+"/pods/", podKey(50_000), func(o *storage.Object) bool {
					n, last = n+1, o.Key
					return n < 500
				})
				if s.Count(root+"/pods/", last+"\x00") != 49_500 {
					b.Fatal("miscounted")
				}
			}
		})
	}
}

// BenchmarkUndo is the first snapshot of a revision 1,000 events ago.
func BenchmarkUndo(b *testing.B) {
	c := filled(b, 100_000)
	if err := c.Apply(newUpdates(100_000, 1000, c.Revision()).next()); err != nil {
		b.Fatal(err)
	}
	v := c.state.Load().version("pods")
	b.ReportAllocs()
	for b.Loop() {
		if v.at(v.log.floor).length() != 100_000 {
			b.Fatal("lost objects")
		}
	}
}

// BenchmarkFanOut is an event until every watcher has it and its shared rendering. Each watcher is
// a goroutine. Apply runs at most 1,024 events ahead.
func BenchmarkFanOut(b *testing.B) {
	for _, watchers := range []int{100, 1000} {
		for _, size := range []int{1, 16} {
			b.Run(fmt.Sprintf("watchers=%d/batch=%d", watchers, size), func(b *testing.B) { fanOut(b, watchers, size) })
		}
	}
}

func fanOut(b *testing.B, watchers, size int) {
	c := filled(b, 2200)
	start := c.Revision()
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	turn := make(chan struct{}, watchers)
	for range watchers {
		w, err := c.Watch("pods", start)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			for n := 0; ; {
				events, _, err := w.Next(ctx)
				if err != nil {
					return
				}
				for _, e := range events {
					_, _ = c.EncodedEvent(e, "json", func() ([]byte, error) { return append(slices.Clip(e.Object.JSON), '\n'), nil })
				}
				for n += len(events); n >= 1024; n -= 1024 {
					turn <- struct{}{}
				}
			}
		})
	}
	u := newUpdates(2200, size, start)
	b.ReportAllocs()
	sent := 0
	for b.Loop() {
		if err := c.Apply(u.next()); err != nil {
			b.Fatal(err)
		}
		if before := sent; (before+size)/1024 > before/1024 {
			for range watchers {
				<-turn
			}
		}
		sent += size
	}
	b.ReportMetric(float64(sent)*float64(watchers)/b.Elapsed().Seconds(), "deliveries/s")
	cancel()
	wg.Wait()
}
