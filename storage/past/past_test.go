package past

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

const prefix = "/registry/configmaps/default/"

// filled returns a store with n objects, among neighbours, and the revision after the last.
func filled(t *testing.T, n, size int) (storage.Store, int64) {
	t.Helper()
	s := storagetest.NewTwin()
	put(t, s, "/registry/configmaps/default", 0, size)
	put(t, s, "/registry/configmaps/default0/a", 0, size)
	var rev int64
	for i := range n {
		rev = put(t, s, fmt.Sprintf("%s%04d", prefix, i), 0, size)
	}
	return s, rev
}

func put(t *testing.T, s storage.Store, key string, expect int64, size int) int64 {
	t.Helper()
	rev, err := s.Commit(t.Context(), storage.Txn{
		Key: key, Expect: expect, Value: fmt.Appendf(nil, `{"metadata":{},"data":%q}`, strings.Repeat("x", size)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func reader(s storage.Store, o Options) *Reader {
	return New(s, &storage.Decoder{Root: "/registry"}, o)
}

// keys are up to n of those that a view shows from a key on; 0 is all.
func keys(ctx context.Context, v *View, from string, n int) (out []string, err error) {
	err = v.Ascend(ctx, from, n, func(o *storage.Object) bool {
		out = append(out, fmt.Sprintf("%s@%d", o.Key, o.Revision))
		return n == 0 || len(out) < n
	})
	return out, err
}

// counting counts what is asked of a store.
type counting struct {
	storage.Store
	mu     sync.Mutex
	ranges []storage.Range
	// gate, if set, is waited for by every read.
	gate chan struct{}
}

func (c *counting) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	c.mu.Lock()
	c.ranges = append(c.ranges, r)
	c.mu.Unlock()
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return storage.Page{}, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
		}
	}
	return c.Store.List(ctx, r)
}

// TestRandom reads random parts of random revisions, with a bound that is large enough for all, for some and for no
// chunks, and compares them with what the store says.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed.Of(t), 0))
	s, first := filled(t, 150, 200)
	last := first
	for range 60 {
		key := fmt.Sprintf("%s%04d", prefix, rng.IntN(170))
		at, err := s.Get(t.Context(), key)
		switch {
		case err == nil && rng.IntN(3) == 0:
			if last, err = s.Commit(t.Context(), storage.Txn{Key: key, Expect: at.ModRevision}); err != nil {
				t.Fatal(err)
			}
		default:
			last = put(t, s, key, at.ModRevision, rng.IntN(400))
		}
	}
	for _, bound := range []int64{1 << 30, 100 << 10, 1} {
		r := reader(s, Options{Bytes: bound, Newest: func(_, from string, n int) Part {
			if rng.IntN(5) == 0 {
				return Part{}
			}
			return partAt(t, s, from, rng.IntN(n)+1, last-rng.Int64N(last-first+1)) // it may be too old
		}})
		for range 100 {
			v := r.View(prefix, first+rng.Int64N(last-first+1))
			for range 1 + rng.IntN(4) {
				compare(t, s, v, rng)
				r.kept.check(t)
			}
		}
	}
}

// partAt is what a cache knows whose newest state is at a revision.
func partAt(t *testing.T, s storage.Store, from string, n int, rev int64) Part {
	t.Helper()
	page, err := s.List(t.Context(), storage.Range{Prefix: prefix, From: from, Limit: int64(n + 1), Revision: rev})
	if err != nil {
		t.Fatal(err)
	}
	part := Part{Revision: rev}
	d := storage.Decoder{Root: "/registry"}
	for i, record := range page.Records {
		if i == n {
			part.End = record.Key
			break
		}
		part.Objects = append(part.Objects, d.Decode(record))
	}
	return part
}

// compare compares a page and a count of a view with the store's own.
func compare(t *testing.T, s storage.Store, v *View, rng *rand.Rand) {
	t.Helper()
	from, n := fmt.Sprintf("%s%04d", prefix, rng.IntN(170)), rng.IntN(120)
	if rng.IntN(4) == 0 {
		from = ""
	}
	page, err := s.List(t.Context(), storage.Range{Prefix: prefix, From: from, Limit: int64(n), Revision: v.Revision()})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, rec := range page.Records {
		want = append(want, fmt.Sprintf("%s@%d", rec.Key, rec.ModRevision))
	}
	got, err := keys(t.Context(), v, from, n)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%d from %q at %d: %v (-store +view):\n%s", n, from, v.Revision(), err, diff)
	}
	count, err := v.Count(t.Context(), from)
	if wanted := int64(len(page.Records)) + page.Remaining; err != nil || count != wanted {
		t.Fatalf("%d from %q at %d: %v, want %d", count, from, v.Revision(), err, wanted)
	}
	key := max(from, prefix+"0000")
	o, err := v.Get(t.Context(), key)
	if err != nil || (o != nil) != (len(page.Records) > 0 && page.Records[0].Key == key) {
		t.Fatalf("%s at %d: %v, %v", key, v.Revision(), o, err)
	}
}

// TestShared: clients of one revision read each object once, in whatever steps they go; the reads are bounded.
func TestShared(t *testing.T) {
	twin, rev := filled(t, 2000, 3000) // 6 MiB
	s := &counting{Store: twin}
	r := reader(s, Options{})
	want, err := keys(t.Context(), r.View(prefix, rev), "", 0)
	if err != nil || len(want) != 2000 {
		t.Fatalf("%d objects: %v", len(want), err)
	}
	var clients sync.WaitGroup
	for _, step := range []int{7, 100, 500, 500, 3000} {
		clients.Go(func() {
			var got []string
			for from := ""; ; {
				page, err := keys(t.Context(), r.View(prefix, rev), from, step)
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, page...)
				if len(page) < step {
					break
				}
				key, _, _ := strings.Cut(page[len(page)-1], "@")
				from = key + "\x00"
			}
			if !slices.Equal(got, want) {
				t.Errorf("in steps of %d: %d objects, want %d", step, len(got), len(want))
			}
		})
	}
	clients.Wait()
	if c := r.Counts(); c.Records != 2000 || c.Reads > 9 {
		t.Errorf("%+v", c)
	}
	for i, q := range s.ranges {
		if most := int64(readBytes / 3000); q.Limit == 0 || q.Limit > max(most, firstRecords) {
			t.Errorf("read %d: %+v", i, q)
		}
	}
}

// TestTogether: clients that come while a read is under way wait for it, and take it over if the first one leaves.
func TestTogether(t *testing.T) {
	twin, rev := filled(t, 10, 10)
	synctest.Test(t, func(t *testing.T) {
		s := &counting{Store: twin, gate: make(chan struct{})}
		r := reader(s, Options{})
		first, leave := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		clients.Go(func() {
			if _, err := keys(first, r.View(prefix, rev), "", 5); !errors.Is(err, context.Canceled) {
				t.Errorf("the client that left: %v", err)
			}
		})
		synctest.Wait()
		for range 8 {
			clients.Go(func() {
				if got, err := keys(t.Context(), r.View(prefix, rev), "", 5); err != nil || len(got) != 5 {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		if n := len(s.ranges); n != 1 {
			t.Errorf("%d reads are under way", n)
		}
		leave()
		synctest.Wait()
		close(s.gate)
		clients.Wait()
		if c := r.Counts(); c.Reads != 1 || c.Records != 5 {
			t.Errorf("%+v", c)
		}
		time.Sleep(2 * time.Minute) // until the sweeper has ended
	})
}

// TestTurns: no more reads are under way than there may be.
func TestTurns(t *testing.T) {
	twin, rev := filled(t, 10, 10)
	synctest.Test(t, func(t *testing.T) {
		s := &counting{Store: twin, gate: make(chan struct{})}
		r := reader(s, Options{})
		var clients sync.WaitGroup
		for i := range 2 * reads {
			clients.Go(func() {
				from := fmt.Sprintf("%s%04d", prefix, i)
				if _, err := keys(t.Context(), r.View(prefix, rev), from, 5); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := len(s.ranges); n != reads {
			t.Errorf("%d reads are under way, want %d", n, reads)
		}
		close(s.gate)
		clients.Wait()
		time.Sleep(2 * time.Minute)
	})
}

// TestBeside: reads that begin at the same key of several revisions take turns, and one that waits can leave.
func TestBeside(t *testing.T) {
	twin, rev := filled(t, 10, 10)
	synctest.Test(t, func(t *testing.T) {
		s := &counting{Store: twin, gate: make(chan struct{})}
		r := reader(s, Options{})
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() {
				got, err := keys(t.Context(), r.View(prefix, rev-int64(i)), "", 0)
				if err != nil || len(got) != 10-i {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		leaving, leave := context.WithCancel(t.Context())
		var left sync.WaitGroup
		left.Go(func() {
			if _, err := keys(leaving, r.View(prefix, rev-5), "", 0); !errors.Is(err, context.Canceled) {
				t.Errorf("the client that left: %v", err)
			}
		})
		synctest.Wait()
		leave()
		left.Wait()
		if n := len(s.ranges); n != 1 {
			t.Errorf("%d reads are under way", n)
		}
		close(s.gate)
		clients.Wait()
		time.Sleep(2 * time.Minute)
	})
}

// panicking is a store of which a read panics after the gate has opened.
type panicking struct {
	storage.Store
	gate chan struct{}
}

func (p *panicking) List(context.Context, storage.Range) (storage.Page, error) {
	<-p.gate
	panic("reading failed")
}

// TestPanic: a read that panics ends the waiting of others with an error, and leaves neither a flight nor a turn.
func TestPanic(t *testing.T) {
	twin, rev := filled(t, 10, 10)
	synctest.Test(t, func(t *testing.T) {
		s := &panicking{Store: twin, gate: make(chan struct{})}
		r := reader(s, Options{})
		var clients sync.WaitGroup
		clients.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the caller that reads does not panic")
				}
			}()
			_, _ = keys(t.Context(), r.View(prefix, rev), "", 5)
		})
		synctest.Wait()
		clients.Go(func() {
			if _, err := keys(t.Context(), r.View(prefix, rev), "", 5); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("the caller that waits: %v", err)
			}
		})
		synctest.Wait()
		close(s.gate)
		clients.Wait()
		if len(r.flights) != 0 || len(r.turns) != 0 {
			t.Errorf("%d flights and %d turns are left", len(r.flights), len(r.turns))
		}
	})
}

// rewritten returns a store of n objects that were all written again after a number of revisions, which differ in the
// first object only; and the newest state.
func rewritten(t *testing.T, n, revisions int) (s *counting, at []int64, newest func(_, from string, n int) Part) {
	t.Helper()
	twin, rev := filled(t, n, 100)
	first := prefix + "0000"
	for range revisions {
		rev = put(t, twin, first, modRevision(t, twin, first), 50)
		at = append(at, rev)
	}
	for i := range n {
		key := fmt.Sprintf("%s%04d", prefix, i)
		rev = put(t, twin, key, modRevision(t, twin, key), 70)
	}
	return &counting{Store: twin}, at, func(_, from string, n int) Part { return partAt(t, twin, from, n, rev) }
}

func modRevision(t *testing.T, s storage.Store, key string) int64 {
	t.Helper()
	record, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return record.ModRevision
}

// TestRevisions: pages at several revisions between which little has changed read most objects once, although all were
// written since; in any order of the revisions, no object is in memory twice.
func TestRevisions(t *testing.T) {
	const n, page = 300, 50
	for _, latestFirst := range []bool{true, false} {
		s, at, newest := rewritten(t, n, 8)
		r := reader(s, Options{Newest: newest})
		if latestFirst {
			slices.Reverse(at)
		}
		seen := map[string]*storage.Object{}
		for _, rev := range at {
			v, from := r.View(prefix, rev), ""
			shown := 0
			for range n / page {
				of := 0
				if err := v.Ascend(t.Context(), from, page, func(o *storage.Object) bool {
					from = o.Key + "\x00"
					shown, of = shown+1, of+1
					if id := fmt.Sprint(o.Key, o.Revision); seen[id] == nil {
						seen[id] = o
					} else if seen[id] != o {
						t.Errorf("%s is in memory twice", id)
					}
					return of < page
				}); err != nil {
					t.Fatal(err)
				}
			}
			r.kept.check(t)
			if shown != n {
				t.Errorf("%d objects at %d, want %d", shown, rev, n)
			}
		}
		if len(seen) != n+len(at)-1 {
			t.Errorf("%d objects, want %d", len(seen), n+len(at)-1)
		}
		// each of the later chunks costs a record or two: to count the objects, and the one that differs
		if most := int64(n + 2*len(at)*(n/page)); latestFirst && r.Counts().Records > most {
			t.Errorf("%+v, want at most %d records", r.Counts(), most)
		}
	}
}

// TestUnchanged: what was not written since is not read. What was is read in few parts; if there are too many, or
// objects were deleted, all is read.
func TestUnchanged(t *testing.T) {
	const n = 200
	for name, c := range map[string]struct {
		each    int // of so many objects one is written later
		deleted string
		most    int64
	}{
		"nothing was written":  {each: n + 1, most: 2},
		"a few were written":   {each: 20, most: 2 + 10},
		"many were written":    {each: 4, most: n},
		"all were written":     {each: 1, most: n},
		"an object is deleted": {each: n + 1, deleted: prefix + "0042", most: n + 2},
	} {
		twin, rev := filled(t, n, 10)
		want, err := keys(t.Context(), reader(twin, Options{}).View(prefix, rev), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		last := rev
		for i := 0; i < n; i++ {
			if key := fmt.Sprintf("%s%04d", prefix, i); i%c.each == c.each-1 {
				last = put(t, twin, key, modRevision(t, twin, key), 20)
			}
		}
		if c.deleted != "" {
			if last, err = twin.Commit(
				t.Context(), storage.Txn{Key: c.deleted, Expect: modRevision(t, twin, c.deleted)},
			); err != nil {
				t.Fatal(err)
			}
		}
		r := reader(twin, Options{
			Newest: func(_, from string, n int) Part { return partAt(t, twin, from, n, last) },
		})
		got, err := keys(t.Context(), r.View(prefix, rev), "", 0)
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, cmp.Diff(want, got))
		}
		if read := r.Counts().Records; read > c.most {
			t.Errorf("%s: %d records were read, want at most %d", name, read, c.most)
		}
	}
}

// TestShrunk: pages at a revision after which most or all objects were deleted cost one read each. The objects are not
// counted first, which could not replace the read.
func TestShrunk(t *testing.T) {
	const n, page = 1200, 100
	for name, c := range map[string]struct {
		left int
		// spare is the number of reads besides those of the objects.
		spare int64
	}{
		"all deleted":  {left: 0},
		"most deleted": {left: 50, spare: 1}, // only the first page can't know how many objects there were
	} {
		twin, rev := filled(t, n, 3000)
		want, err := keys(t.Context(), reader(twin, Options{}).View(prefix, rev), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		last := rev
		for i := c.left; i < n; i++ {
			key := fmt.Sprintf("%s%04d", prefix, i)
			last, err = twin.Commit(t.Context(), storage.Txn{Key: key, Expect: modRevision(t, twin, key)})
			if err != nil {
				t.Fatal(err)
			}
		}
		s := &counting{Store: twin}
		r := reader(s, Options{Newest: func(_, from string, n int) Part { return partAt(t, twin, from, n, last) }})
		var got []string
		for from := ""; len(got) < n; from = prefix + fmt.Sprintf("%04d", len(got)) {
			shown, err := keys(t.Context(), r.View(prefix, rev), from, page)
			if err != nil || len(shown) != page {
				t.Fatalf("%s: %d objects from %q: %v", name, len(shown), from, err)
			}
			got = append(got, shown...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: (-want +got):\n%s", name, cmp.Diff(want, got))
		}
		r.kept.check(t)
		chunks := int64(len(r.kept.places[place{prefix, rev}]))
		if counts := (Counts{Reads: chunks + c.spare, Records: n + c.spare}); r.Counts() != counts {
			t.Errorf("%s: %+v, want %+v", name, r.Counts(), counts)
		}
	}
}

// TestIdle: what isn't used is dropped, what is used stays.
func TestIdle(t *testing.T) {
	twin, rev := filled(t, 10, 10)
	synctest.Test(t, func(t *testing.T) {
		r := reader(twin, Options{Idle: time.Minute})
		for _, at := range []int64{rev, rev - 1} {
			if _, err := keys(t.Context(), r.View(prefix, at), "", 0); err != nil {
				t.Fatal(err)
			}
		}
		both := r.Held()
		time.Sleep(40 * time.Second)
		if _, err := keys(t.Context(), r.View(prefix, rev), "", 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if one := r.Held(); one == 0 || one >= both {
			t.Errorf("%d of %d bytes are held", one, both)
		}
		r.kept.check(t)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if none := r.Held(); none != 0 {
			t.Errorf("%d bytes are held", none)
		}
		if _, err := keys(t.Context(), r.View(prefix, rev), "", 0); err != nil || r.Held() == 0 {
			t.Errorf("%d bytes are held after a later read: %v", r.Held(), err)
		}
		time.Sleep(2 * time.Minute)
	})
}

// TestCompacted: a revision that etcd has forgotten isn't shown, even if it is in memory.
func TestCompacted(t *testing.T) {
	compacted(t, func(storage.Store, int64) Options { return Options{} })
}

// TestCompactedDeleted: nor is it read if the newest state has none of its objects.
func TestCompactedDeleted(t *testing.T) {
	compacted(t, func(_ storage.Store, rev int64) Options {
		return Options{Newest: func(string, string, int) Part { return Part{Revision: rev} }}
	})
}

// TestCompactedUnchanged: so it is if the newest state has all of its objects.
func TestCompactedUnchanged(t *testing.T) {
	compacted(t, func(s storage.Store, rev int64) Options {
		objects := partAt(t, s, "", 100, rev).Objects
		return Options{Newest: func(_, from string, n int) Part {
			at := slices.IndexFunc(objects, func(o *storage.Object) bool { return o.Key >= from })
			return Part{Revision: rev, Objects: objects[at:]}
		}}
	})
}

func compacted(t *testing.T, options func(s storage.Store, rev int64) Options) {
	t.Helper()
	s, rev := filled(t, 20, 10)
	r := reader(s, options(s, rev))
	going, old := r.View(prefix, rev-1), r.View(prefix, rev-1)
	if _, err := keys(t.Context(), going, "", 5); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
	if _, err := keys(t.Context(), old, "", 5); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("what is in memory: %v", err)
	}
	if _, err := keys(t.Context(), going, prefix+"0010", 5); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("in the middle: %v", err)
	}
	if _, err := r.View(prefix, rev-1).Count(t.Context(), ""); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("counting: %v", err)
	}
	if _, err := r.View(prefix, rev-1).Get(t.Context(), prefix+"0000"); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("one key: %v", err)
	}
	if held := r.Held(); held != 0 {
		t.Errorf("%d bytes are held", held)
	}
}
