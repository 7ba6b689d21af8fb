package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubecascade/kubecascade/storage"
)

// Run tests the numbered guarantees of package storage on stores that open returns, each empty and with
// keys below /registry.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, storage.Store)
	}{
		{"1 one object one revision", testOneRevision},
		{"2 guards", testGuards},
		{"2 contention", testContention},
		{"3 conflict says what won", testConflict},
		{"4 reads see acknowledged writes", testReads},
		{"4 reads at a revision", testReadsAt},
		{"4 pages", testPages},
		{"5 timeline is whole", testTimeline},
		{"5 timeline ends", testTimelineEnds},
		{"6 any bytes", testBytes},
		{"7 timeline reaches every revision", testReaches},
		{"too large", testTooLarge},
		{"canceled", testCanceled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// key returns a key of a config map.
func key(name string) string { return "/registry/configmaps/default/" + name }

// put commits a value and fails the test if that fails.
func put(t *testing.T, s storage.Store, k string, expect int64, value string) int64 {
	t.Helper()
	rev, err := s.Commit(t.Context(), storage.Txn{Key: k, Expect: expect, Value: []byte(value)})
	if err != nil {
		t.Fatalf("committing %s: %v", k, err)
	}
	return rev
}

// remove commits a removal.
func remove(t *testing.T, s storage.Store, k string, expect int64) int64 {
	t.Helper()
	rev, err := s.Commit(t.Context(), storage.Txn{Key: k, Expect: expect})
	if err != nil {
		t.Fatalf("removing %s: %v", k, err)
	}
	return rev
}

func testOneRevision(t *testing.T, s storage.Store) {
	l := Watch(t, s)
	l.WaitForReset(1)
	const writers, writes = 16, 20
	var mu sync.Mutex
	acknowledged := map[int64]string{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			k, expect := key(fmt.Sprint(w)), int64(0)
			for i := range writes {
				txn := storage.Txn{Key: k, Expect: expect, Value: fmt.Append(nil, i)}
				if i%4 == 3 {
					txn.Value = nil
				}
				rev, err := s.Commit(t.Context(), txn)
				if err != nil {
					t.Errorf("committing %s: %v", k, err)
					return
				}
				mu.Lock()
				if other, ok := acknowledged[rev]; ok {
					t.Errorf("revision %d of both %s and %s", rev, other, k)
				}
				acknowledged[rev] = k
				mu.Unlock()
				if expect = rev; txn.Value == nil {
					expect = 0
				}
			}
		})
	}
	wg.Wait()
	rev, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.WaitFor(rev)
	events := l.Events()
	if len(events) != writers*writes {
		t.Errorf("%d events of %d writes", len(events), writers*writes)
	}
	for _, ev := range events {
		if acknowledged[ev.Revision] != ev.Key {
			t.Errorf("event of %s at revision %d, which is that of %q", ev.Key, ev.Revision, acknowledged[ev.Revision])
		}
	}
}

func testGuards(t *testing.T, s storage.Store) {
	owner := put(t, s, key("owner"), 0, "o")
	for _, c := range []struct {
		name   string
		guards []storage.Guard
		lost   *storage.Guard
	}{
		{"holds", []storage.Guard{{Key: key("owner"), ModRevision: owner}, {Key: key("none")}}, nil},
		{"other revision", []storage.Guard{{Key: key("none")}, {Key: key("owner"), ModRevision: owner - 1}}, &storage.Guard{Key: key("owner"), ModRevision: owner}},
		{"exists", []storage.Guard{{Key: key("owner")}}, &storage.Guard{Key: key("owner"), ModRevision: owner}},
		{"is gone", []storage.Guard{{Key: key("none"), ModRevision: owner}}, &storage.Guard{Key: key("none")}},
		{"first of two", []storage.Guard{{Key: key("none"), ModRevision: 5}, {Key: key("owner")}}, &storage.Guard{Key: key("none")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := key("dependent-" + c.name)
			rev := put(t, s, k, 0, "d")
			_, err := s.Commit(t.Context(), storage.Txn{Key: k, Expect: rev, Guards: c.guards})
			var conflict *storage.ConflictError
			errors.As(err, &conflict)
			if c.lost == nil {
				if _, gone := s.Get(t.Context(), k); err != nil || !errors.Is(gone, storage.ErrNotFound) {
					t.Errorf("removal: %v; then reading: %v", err, gone)
				}
				return
			}
			want := &storage.ConflictError{
				Current: storage.Record{Key: k, Value: []byte("d"), ModRevision: rev}, Guard: c.lost, Revision: rev,
			}
			if diff := cmp.Diff(want, conflict); diff != "" {
				t.Errorf("conflict (-want +got):\n%s", diff)
			}
			if r, err := s.Get(t.Context(), k); err != nil || r.ModRevision != rev {
				t.Errorf("after the conflict: %v, %v", r, err)
			}
		})
	}
}

// testContention has many writers add one to the same number.
func testContention(t *testing.T, s storage.Store) {
	const writers, adds = 8, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			var have storage.Record
			for n := 0; n < adds; {
				sum := 0
				_, _ = fmt.Sscan(string(have.Value), &sum)
				rev, err := s.Commit(t.Context(), storage.Txn{Key: key("sum"), Expect: have.ModRevision, Value: fmt.Append(nil, sum+1)})
				var lost *storage.ConflictError
				switch {
				case errors.As(err, &lost):
					have = lost.Current
				case err != nil:
					t.Errorf("adding: %v", err)
					return
				default:
					have = storage.Record{Value: fmt.Append(nil, sum+1), ModRevision: rev}
					n++
				}
			}
		})
	}
	wg.Wait()
	if r, err := s.Get(t.Context(), key("sum")); err != nil || string(r.Value) != fmt.Sprint(writers*adds) {
		t.Errorf("sum is %s, %v", r.Value, err)
	}
}

func testConflict(t *testing.T, s storage.Store) {
	first := put(t, s, key("a"), 0, "1")
	second := put(t, s, key("a"), first, "2")
	current := storage.Record{Key: key("a"), Value: []byte("2"), ModRevision: second}
	removed := remove(t, s, key("b"), put(t, s, key("b"), 0, "b"))
	for _, c := range []struct {
		name string
		txn  storage.Txn
		want storage.Record
	}{
		{"create of what exists", storage.Txn{Key: key("a"), Value: []byte("3")}, current},
		{"update of an older", storage.Txn{Key: key("a"), Expect: first, Value: []byte("3")}, current},
		{"removal of an older", storage.Txn{Key: key("a"), Expect: first}, current},
		{"update of what is gone", storage.Txn{Key: key("b"), Expect: removed - 1, Value: []byte("3")}, storage.Record{Key: key("b")}},
		{"key before guards", storage.Txn{Key: key("a"), Expect: first, Guards: []storage.Guard{{Key: key("c"), ModRevision: 1}}}, current},
	} {
		_, err := s.Commit(t.Context(), c.txn)
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, storage.ErrConflict) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(&storage.ConflictError{Current: c.want, Revision: removed}, conflict); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if rev, err := s.Commit(t.Context(), storage.Txn{Key: key("b")}); err != nil || rev != removed {
		t.Errorf("removing what isn't there: revision %d, %v; want %d", rev, err, removed)
	}
}

func testReads(t *testing.T, s storage.Store) {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			k, expect := key(fmt.Sprint(w)), int64(0)
			for i := range 10 {
				rev, err := s.Commit(t.Context(), storage.Txn{Key: k, Expect: expect, Value: fmt.Append(nil, i)})
				if err != nil {
					t.Errorf("committing: %v", err)
					return
				}
				expect = rev
				if r, err := s.Get(t.Context(), k); err != nil || r.ModRevision != rev {
					t.Errorf("reading after revision %d: %d, %v", rev, r.ModRevision, err)
				}
				if p, err := s.List(t.Context(), storage.Range{Prefix: k, Limit: 1}); err != nil || p.Revision < rev || p.Records[0].ModRevision != rev {
					t.Errorf("listing after revision %d: %+v, %v", rev, p, err)
				}
				if now, err := s.Revision(t.Context()); err != nil || now < rev {
					t.Errorf("revision %d after %d, %v", now, rev, err)
				}
			}
		})
	}
	wg.Wait()
}

func testReadsAt(t *testing.T, s storage.Store) {
	a := put(t, s, key("a"), 0, "1")
	b := put(t, s, key("b"), 0, "1")
	a2 := put(t, s, key("a"), a, "2")
	gone := remove(t, s, key("b"), b)
	want := map[int64][]storage.Record{
		a:    {{Key: key("a"), Value: []byte("1"), ModRevision: a}},
		b:    {{Key: key("a"), Value: []byte("1"), ModRevision: a}, {Key: key("b"), Value: []byte("1"), ModRevision: b}},
		a2:   {{Key: key("a"), Value: []byte("2"), ModRevision: a2}, {Key: key("b"), Value: []byte("1"), ModRevision: b}},
		gone: {{Key: key("a"), Value: []byte("2"), ModRevision: a2}},
	}
	check := func() {
		t.Helper()
		for rev, records := range want {
			p, err := s.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: rev})
			if diff := cmp.Diff(storage.Page{Records: records, Revision: rev}, p); err != nil || diff != "" {
				t.Errorf("at revision %d: %v (-want +got):\n%s", rev, err, diff)
			}
		}
	}
	check()
	if _, err := s.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: gone + 1}); !errors.Is(err, storage.ErrFuture) {
		t.Errorf("in the future: %v", err)
	}
	if err := s.Compact(t.Context(), gone+1); !errors.Is(err, storage.ErrFuture) {
		t.Errorf("compacting the future: %v", err)
	}
	for range 2 { // the second has nothing to do
		if err := s.Compact(t.Context(), a2); err != nil {
			t.Errorf("compacting: %v", err)
		}
	}
	for _, rev := range []int64{a, b} {
		if _, err := s.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: rev}); !errors.Is(err, storage.ErrCompacted) {
			t.Errorf("at compacted revision %d: %v", rev, err)
		}
		delete(want, rev)
	}
	check()
}

func testPages(t *testing.T, s storage.Store) {
	var all []storage.Record
	for i := range 10 {
		k := key(fmt.Sprintf("%02d", i))
		all = append(all, storage.Record{Key: k, Value: []byte{byte(i)}, ModRevision: put(t, s, k, 0, string([]byte{byte(i)}))})
	}
	put(t, s, "/registry/configmaps/default-2/x", 0, "x")
	put(t, s, "/registry/configmapsx/default/x", 0, "x")
	rev := put(t, s, "/registry/configmapr", 0, "x")
	var got []storage.Record
	r := storage.Range{Prefix: key(""), Limit: 3}
	for {
		p, err := s.List(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Records...)
		if left := int64(len(all) - len(got)); p.Remaining != left || p.More != (left > 0) || p.Revision != rev {
			t.Errorf("after %d records: %d remaining, more %v, revision %d", len(got), p.Remaining, p.More, p.Revision)
		}
		if !p.More {
			break
		}
		put(t, s, key(fmt.Sprintf("%02d-later", len(got))), 0, "y") // not seen at the first page's revision
		r.Revision, r.From = p.Revision, p.Records[len(p.Records)-1].Key+"\x00"
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, r := range []storage.Range{{Prefix: "/registry/none/"}, {Prefix: key(""), From: key("~")}, {Prefix: key(""), From: "/registry/z"}} {
		if p, err := s.List(t.Context(), r); err != nil || len(p.Records) != 0 || p.More || p.Remaining != 0 {
			t.Errorf("%+v: %+v, %v", r, p, err)
		}
	}
}

// testTimeline starts followers while writers are at work.
func testTimeline(t *testing.T, s storage.Store) {
	put(t, s, key("before"), 0, "x")
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(w)))
			k, expect := key(fmt.Sprint(w)), int64(0)
			for i := range 100 {
				txn := storage.Txn{Key: k, Expect: expect, Value: fmt.Append(nil, i)}
				if expect != 0 && rng.IntN(3) == 0 {
					txn.Value = nil
				}
				rev, err := s.Commit(t.Context(), txn)
				if err != nil {
					t.Errorf("committing: %v", err)
					return
				}
				if expect = rev; txn.Value == nil {
					expect = 0
				}
			}
		})
	}
	var lines []*Timeline
	for range 4 {
		l := Watch(t, s)
		l.WaitForReset(1)
		lines = append(lines, l)
	}
	writers.Wait()
	p, err := s.List(t.Context(), storage.Range{Prefix: "/registry/"})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		l.WaitFor(p.Revision)
		if diff := cmp.Diff(p.Records, l.State()); diff != "" {
			t.Errorf("follower %d came to another state (-store +follower):\n%s", i, diff)
		}
		events, first := l.Events(), lines[0].Events()
		if len(events) > len(first) {
			t.Errorf("follower %d saw %d events, an earlier one %d", i, len(events), len(first))
		} else if diff := cmp.Diff(first[len(first)-len(events):], events); diff != "" {
			t.Errorf("follower %d saw other events (-first +this):\n%s", i, diff)
		}
	}
}

func testTimelineEnds(t *testing.T, s storage.Store) {
	put(t, s, key("a"), 0, "x")
	failure := errors.New("sink is full")
	calls := 0
	err := s.Follow(t.Context(), func(storage.Batch) error { calls++; return failure })
	if err != failure || calls != 1 {
		t.Errorf("sink fails: %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Follow(ctx, func(storage.Batch) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("context ends: %v", err)
	}
}

func testBytes(t *testing.T, s storage.Store) {
	l := Watch(t, s)
	l.WaitForReset(1)
	var want []storage.Record
	for i, v := range [][]byte{{}, {0}, []byte("k8s\x00\xff"), []byte("{\"a\":1}\n")} {
		k := "/registry/stable.example.com/crontabs/a b/" + fmt.Sprint(i) + "\xff\x00:"
		want = append(want, storage.Record{Key: k, Value: v, ModRevision: put(t, s, k, 0, string(v))})
	}
	p, err := s.List(t.Context(), storage.Range{Prefix: "/registry/stable.example.com/"})
	if diff := cmp.Diff(want, p.Records); err != nil || diff != "" {
		t.Errorf("listing: %v (-want +got):\n%s", err, diff)
	}
	l.WaitFor(p.Revision)
	if diff := cmp.Diff(want, l.State()); diff != "" {
		t.Errorf("following (-want +got):\n%s", diff)
	}
	again := Watch(t, s)
	again.WaitFor(p.Revision)
	if diff := cmp.Diff(want, again.State()); diff != "" {
		t.Errorf("following from now on (-want +got):\n%s", diff)
	}
}

// testReaches writes keys that no follower sees.
func testReaches(t *testing.T, s storage.Store) {
	l := Watch(t, s)
	for i := range 3 {
		put(t, s, fmt.Sprintf("/elsewhere/%d", i), 0, "x")
		rev, err := s.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l.WaitFor(rev)
		put(t, s, key(fmt.Sprint(i)), 0, "x")
	}
	l.WaitFor(7)
	keys := []string{}
	for _, ev := range l.Events() {
		keys = append(keys, ev.Key)
	}
	if want := []string{key("0"), key("1"), key("2")}; !slices.Equal(keys, want) {
		t.Errorf("events of %v", keys)
	}
}

func testTooLarge(t *testing.T, s storage.Store) {
	_, err := s.Commit(t.Context(), storage.Txn{Key: key("large"), Value: make([]byte, 3<<20)})
	if !errors.Is(err, storage.ErrTooLarge) {
		t.Errorf("3 MiB: %v", err)
	}
	put(t, s, key("large"), 0, string(make([]byte, 1<<20)))
}

func testCanceled(t *testing.T, s storage.Store) {
	rev := put(t, s, key("a"), 0, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, get := s.Get(ctx, key("a"))
	_, list := s.List(ctx, storage.Range{Prefix: "/registry/"})
	_, commit := s.Commit(ctx, storage.Txn{Key: key("a"), Expect: rev, Value: []byte("y")})
	_, revision := s.Revision(ctx)
	for i, err := range []error{get, list, commit, revision, s.Compact(ctx, rev)} {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if r, err := s.Get(t.Context(), key("a")); err != nil || string(r.Value) != "x" {
		t.Errorf("written by a canceled commit: %s, %v", r.Value, err)
	}
}
