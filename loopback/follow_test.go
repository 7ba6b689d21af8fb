package loopback

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// TestQuietFeedOmitsOtherCollections: a feed with quiet sends what a feed of the whole timeline sends, without the
// events of other collections while it is quiet, and is woken only by the first collection then (guarantee 4).
func TestQuietFeedOmitsOtherCollections(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range 200 {
		h := newHistory(t, r)
		h.write(r.IntN(3))
		var got, want tally
		quiet := got.feed(h.cache)
		quiet.Quiet = func() bool { return got.there == 0 }
		f := follower{Feed: quiet}
		start := h.cache.Revision()
		h.begin(quiet.Begin)
		if err := f.watch(start); err != nil {
			t.Fatal(err)
		}
		whole := want.feed(h.cache)
		h.begin(whole.Begin)
		all, err := h.cache.Timeline(start)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			h.write(1 + r.IntN(8))
			read(t, &f)
			events, _, err := all.Poll()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Collection == firstCollection || want.there > 0 {
					if err := whole.Each(e); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !slices.Equal(got.seen, want.seen) {
				t.Fatalf("the feed sent\n%v\nof\n%v", got.seen, want.seen)
			}
			if woken := h.wakes(&f); woken != (want.there > 0) {
				t.Fatalf("with %d objects of the first collection, a write to another one wakes the feed: %v", want.there, woken)
			}
		}
	}
}

// TestQuietFeedStartsAgainAfterExpiry: a feed that was quiet for so long that the history is gone starts again when it
// is no longer quiet.
func TestQuietFeedStartsAgainAfterExpiry(t *testing.T) {
	h := newHistory(t, rand.New(rand.NewPCG(1, 1)))
	var got tally
	f := got.feed(h.cache)
	f.Quiet = func() bool { return got.there == 0 }
	r := follower{Feed: f}
	h.begin(f.Begin)
	if err := r.watch(h.cache.Revision()); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		h.apply(h.change("others"))
	}
	h.apply(h.change(firstCollection))
	read(t, &r)
	if len(got.seen) != 1 {
		t.Errorf("after 100 events of others and one of the first collection, the feed sent %v", got.seen)
	}
	for range 100 {
		h.apply(h.change("others"))
	}
	if _, err := r.read(); !errors.Is(err, cache.ErrExpired) {
		t.Errorf("a feed that isn't quiet, and fell behind: %v", err)
	}
}

const firstCollection = "firsts"

// tally records what a feed sends. there is the number of objects of the first collection.
type tally struct {
	there int
	seen  []string
}

func (s *tally) feed(c *cache.Cache) Feed {
	return Feed{Cache: c, First: firstCollection,
		Begin: func(state iter.Seq[*storage.Object]) {
			*s = tally{}
			for range state {
				s.there++
			}
		},
		Each: func(e *cache.Event) error {
			s.seen = append(s.seen, fmt.Sprint(e.Revision, e.Type, e.Object.Key))
			switch {
			case e.Collection == firstCollection && e.Type == cache.Added:
				s.there++
			case e.Collection == firstCollection && e.Type == cache.Deleted:
				s.there--
			}
			return nil
		},
	}
}

// history writes to a cache.
type history struct {
	t        *testing.T
	r        *rand.Rand
	cache    *cache.Cache
	objects  map[string]bool
	revision int64
}

func newHistory(t *testing.T, r *rand.Rand) *history {
	h := &history{t: t, r: r, objects: map[string]bool{}, revision: 1,
		cache: cache.New(cache.Options{Decoder: storage.Decoder{Root: "/r"}, TimelineEvents: 64})}
	if err := h.cache.Apply(storage.Batch{Reset: true, Revision: 1}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *history) begin(begin func(iter.Seq[*storage.Object])) {
	snap, err := h.cache.Snapshot(firstCollection, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	begin(snap.Ascend("", ""))
}

// change creates, changes or deletes an object of the collection.
func (h *history) change(collection string) storage.Event {
	key := fmt.Sprintf("/r/%s/ns/%c", collection, 'a'+rune(h.r.IntN(2)))
	if h.objects[key] && h.r.IntN(2) == 0 {
		delete(h.objects, key)
		return storage.Event{Key: key}
	}
	h.objects[key] = true
	return storage.Event{Key: key, Value: []byte(`{"metadata":{"name":"` + key[len(key)-1:] + `","namespace":"ns"}}`)}
}

// write applies n changes, in a few batches.
func (h *history) write(n int) {
	var events []storage.Event
	for range n {
		e := h.change([]string{firstCollection, "others", "more"}[h.r.IntN(3)])
		if slices.ContainsFunc(events, func(o storage.Event) bool { return o.Key == e.Key }) || h.r.IntN(3) == 0 {
			h.apply(events...)
			events = nil
		}
		events = append(events, e)
	}
	h.apply(events...)
}

// apply applies events, and gives them revisions. Some share one; then those of the first collection come first.
func (h *history) apply(events ...storage.Event) {
	first := func(i int) bool { return strings.HasPrefix(events[i].Key, "/r/"+firstCollection) }
	for i := range events {
		if i == 0 || first(i) && !first(i-1) || h.r.IntN(2) == 0 {
			h.revision++
		}
		events[i].Revision = h.revision
	}
	if err := h.cache.Apply(storage.Batch{Events: events, Revision: h.revision}); err != nil {
		h.t.Fatal(err)
	}
}

// wakes reports whether a write to another collection wakes the feed, which has sent everything.
func (h *history) wakes(f *follower) bool {
	h.apply(h.change("others"))
	for _, w := range f.watchers {
		select {
		case <-w.Changed():
			return true
		case <-context.Background().Done():
		default:
		}
	}
	return false
}

// read reads until there is nothing left.
func read(t *testing.T, f *follower) {
	t.Helper()
	for sent := true; sent; {
		var err error
		if sent, err = f.read(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestDelaysOtherCollections: a feed that rests is woken before the time is over only by the first collection, and
// by the request for all events, which it then sends.
func TestRestDelaysOtherCollections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, rand.New(rand.NewPCG(1, 1)))
		var got tally
		f := got.feed(h.cache)
		f.Collections, f.rest = []string{firstCollection, "others"}, time.Minute
		var number atomic.Int64
		var monitor reconcile.Monitor
		ctx, cancel := context.WithCancel(monitor.With(t.Context()))
		var all sync.WaitGroup
		loop := &reconcile.Loop[string]{
			Keys: reconcile.NewKeys(reconcile.Backoff{}, strings.Compare), Workers: 1,
			Log:  slog.New(slog.DiscardHandler),
			Pass: func(context.Context, string) reconcile.Outcome { return reconcile.Outcome{} },
			Follow: func(ctx context.Context, sink func(string)) error {
				f.Each = func(e *cache.Event) error {
					number.Add(1)
					sink(e.Object.Key)
					return nil
				}
				return f.Follow(ctx)
			},
		}
		all.Go(func() { loop.Run(ctx) })
		defer all.Wait()
		defer cancel()
		sent := func(what string, n int64) {
			t.Helper()
			if synctest.Wait(); number.Load() != n {
				t.Errorf("%s: %d events were sent, not %d", what, number.Load(), n)
			}
		}
		synctest.Wait()
		h.apply(h.change("others"))
		sent("the first write to another collection", 1)
		h.apply(h.change("others"))
		sent("the second", 1)
		time.Sleep(time.Minute)
		sent("after the rest", 2)
		h.apply(h.change("others"))
		h.apply(h.change(firstCollection))
		sent("a write to the first collection", 4)
		h.apply(h.change("others"))
		if _, err := monitor.Idle(ctx, 0); err != nil {
			t.Fatal(err)
		}
		sent("after the question", 5)
	})
}
