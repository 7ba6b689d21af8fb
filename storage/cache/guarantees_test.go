package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// The guarantees of a watch, as etcd names them.
var (
	errOrdered      = errors.New("broke ordered: an event came after one with a later revision")
	errUnique       = errors.New("broke unique: an event came twice")
	errReliable     = errors.New("broke reliable: an event between two others is missing")
	errResumable    = errors.New("broke resumable: a watch from a revision did not begin with the next event")
	errBookmarkable = errors.New("broke bookmarkable: an event came after progress had passed it")
	errComplete     = errors.New("broke complete: progress passed an event that did not come")
)

// response is what one call of Next returned.
type response struct {
	events []*Event
	rev    int64
}

// operation has all responses that one watcher got.
type operation struct {
	since     int64
	responses []response
}

// validate returns the guarantees that the operation broke, given all events of its collection.
// Event identity is the pointer: all watchers share events.
func (o operation) validate(history []*Event) error {
	var broken []error
	seen := map[*Event]bool{}
	last, progress := o.since, o.since
	expect := slices.IndexFunc(history, func(e *Event) bool { return e.Revision > o.since })
	for _, r := range o.responses {
		for _, e := range r.events {
			if seen[e] {
				broken = append(broken, fmt.Errorf("%w: %s", errUnique, shownEvent(e)))
				continue
			}
			if e.Revision <= progress {
				broken = append(broken, fmt.Errorf("%w: %s after %d", errBookmarkable, shownEvent(e), progress))
			}
			if e.Revision < last {
				broken = append(broken, fmt.Errorf("%w: %s after %d", errOrdered, shownEvent(e), last))
				continue
			}
			if expect < 0 || expect >= len(history) || history[expect] != e {
				err := errReliable
				if len(seen) == 0 {
					err = errResumable
				}
				broken = append(broken, fmt.Errorf("%w: %s came", err, shownEvent(e)))
				expect = slices.Index(history, e)
			}
			seen[e], last = true, e.Revision
			expect++
		}
		if expect >= 0 && expect < len(history) && history[expect].Revision <= r.rev {
			broken = append(broken, fmt.Errorf("%w: %d passed %s", errComplete, r.rev, shownEvent(history[expect])))
		}
		progress = max(progress, r.rev)
	}
	return errors.Join(broken...)
}

// TestValidateFindsEachViolation: validate finds a violation of each guarantee.
func TestValidateFindsEachViolation(t *testing.T) {
	var h []*Event
	for i := range 5 {
		h = append(h, &Event{Revision: int64(10 + i), Object: &storage.Object{}})
	}
	for _, c := range []struct {
		name      string
		responses []response
		want      error
	}{
		{"all", []response{{h[1:3], 12}, {h[3:], 20}}, nil},
		{"none yet", []response{{nil, 10}}, nil},
		{"backwards", []response{{[]*Event{h[1], h[3], h[2]}, 10}}, errOrdered},
		{"twice", []response{{h[1:3], 10}, {h[2:], 20}}, errUnique},
		{"gap", []response{{[]*Event{h[1], h[3]}, 10}}, errReliable},
		{"late start", []response{{h[2:], 10}}, errResumable},
		{"early start", []response{{h, 14}}, errResumable},
		{"after progress", []response{{h[1:2], 13}, {h[2:], 14}}, errBookmarkable},
		{"progress too far", []response{{h[1:3], 13}}, errComplete},
	} {
		if err := (operation{
			since: 10, responses: c.responses,
		}).validate(h); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, not %v", c.name, err, c.want)
		}
	}
}

// reader watches one collection, or all, in a goroutine of its own until history has come to the end.
type reader struct {
	cache      *Cache
	collection string
	// slow is how often the reader lets others run before it reads again.
	slow int
	// resume is the number of responses after which the reader starts a watch again.
	resume     int
	operations []operation
	expired    int
}

func (r *reader) watch(rev int64) (*Watcher, error) {
	if r.collection == "" {
		return r.cache.Timeline(rev)
	}
	return r.cache.Watch(r.collection, rev)
}

// read reads from the revision on until it has seen all up to end. When history expires it begins
// with the newest state, as a client would.
func (r *reader) read(ctx context.Context, rev, end int64) error {
	for rev < end {
		w, err := r.watch(rev)
		if errors.Is(err, ErrExpired) {
			r.expired++
			rev = r.cache.Revision()
			continue
		}
		if err != nil {
			return err
		}
		o := operation{since: rev}
		for len(o.responses) < r.resume && rev < end {
			time.Sleep(time.Duration(r.slow) * time.Microsecond)
			events, up, err := w.Next(ctx)
			if errors.Is(err, ErrExpired) {
				break
			}
			if err != nil {
				return err
			}
			for _, e := range events {
				_, _ = r.cache.EncodedEvent(e, "json", func() ([]byte, error) { return e.Object.JSON, nil })
			}
			o.responses = append(o.responses, response{events, up})
			rev = up
		}
		r.operations = append(r.operations, o)
	}
	return nil
}

// TestGuarantees has many readers, quick and slow, beside an Apply at full speed, and others that
// look at snapshots; it is for the race detector too.
func TestGuarantees(t *testing.T) {
	const batches, size, finish = 1500, 10, 1 << 40
	c := New(Options{Decoder: storage.Decoder{Root: root}, Events: 512, TimelineEvents: 1024})
	if err := c.Apply(storage.Batch{Reset: true, Revision: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var readers []*reader
	var wg, lookers sync.WaitGroup
	for i := range 60 {
		r := &reader{cache: c, collection: append(kinds, "")[i%4], slow: []int{0, 1, 300}[i%3], resume: 1 + i*i}
		readers = append(readers, r)
		wg.Go(func() {
			if err := r.read(ctx, 1, finish); err != nil {
				t.Error(err)
			}
		})
	}
	var stop atomic.Bool
	for i := range 2 {
		lookers.Go(func() {
			for n := int64(0); !stop.Load(); n++ {
				look(t, c, kinds[i], n%50)
			}
		})
	}
	histories := applyAll(t, c, batches, size, finish)
	wg.Wait()
	stop.Store(true)
	lookers.Wait()
	total, expired := 0, 0
	for i, r := range readers {
		expired += r.expired
		for _, o := range r.operations {
			total += len(o.responses)
			if err := o.validate(histories[r.collection]); err != nil {
				t.Fatalf("reader %d of %q since %d: %v", i, r.collection, o.since, err)
			}
		}
	}
	t.Logf("%d responses, %d expired", total, expired)
}

// applyAll applies batches of changes and at last one event in every collection with the revision
// finish and after. It returns all events by collection, and of all under "".
func applyAll(t *testing.T, c *Cache, batches, size int, finish int64) map[string][]*Event {
	histories := map[string][]*Event{}
	witness, err := c.Timeline(1)
	if err != nil {
		t.Fatal(err)
	}
	rev := int64(1)
	for i := range batches + 1 {
		var b storage.Batch
		for j := range size {
			rev++
			key := fmt.Sprintf("%s/%s/ns/%03d", root, kinds[(i+j)%len(kinds)], (i*7+j*3)%200)
			e := storage.Event{Key: key, Revision: rev, Value: value(key, "x")}
			if i%5 == 0 && j%2 == 0 {
				e.Value = nil
			}
			if i == batches {
				e = storage.Event{
					Key: root + "/" + kinds[j%len(kinds)] + "/end", Revision: finish + int64(j), Value: value(key, "end"),
				}
			}
			b.Events, b.Revision = append(b.Events, e), e.Revision
		}
		if err := c.Apply(b); err != nil {
			t.Fatal(err)
		}
		// The witness reads after every batch, so it misses nothing.
		events, _, err := witness.Poll()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			histories[""] = append(histories[""], e)
			histories[e.Collection] = append(histories[e.Collection], e)
		}
	}
	return histories
}

// look compares a snapshot some revisions ago with itself, and with what its revision allows.
func look(t *testing.T, c *Cache, collection string, ago int64) {
	s, err := c.Snapshot(collection, max(1, c.Revision()-ago))
	if errors.Is(err, ErrExpired) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	n := 0
	for o := range s.Ascend("", "") {
		n++
		if o.Revision > s.Revision() {
			t.Errorf("%s in a snapshot at %d", shown(o), s.Revision())
		}
	}
	if n != s.Len() || n != s.Count("", "") {
		t.Errorf("snapshot of %d objects shows %d and counts %d", s.Len(), n, s.Count("", ""))
	}
}
