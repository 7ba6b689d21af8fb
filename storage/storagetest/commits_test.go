package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/storage"
)

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
	put(t, s, key("group/a"), 0, "1")
	newest := put(t, s, key("group/b"), 0, "2")
	put(t, s, key("group0"), 0, "not below")
	remove(t, s, key("again"), put(t, s, key("again"), 0, "first"))
	second := put(t, s, key("again"), 0, "second")
	third := put(t, s, key("again"), second, "third")
	for _, c := range []struct {
		name   string
		guards []storage.Guard
		lost   *storage.Guard
	}{
		{"holds", []storage.Guard{{Key: key("owner"), ModRevision: owner}, {Key: key("none")}}, nil},
		{
			"other revision", []storage.Guard{{Key: key("none")}, {Key: key("owner"), ModRevision: owner - 1}},
			&storage.Guard{Key: key("owner"), ModRevision: owner},
		},
		{"exists", []storage.Guard{{Key: key("owner")}}, &storage.Guard{Key: key("owner"), ModRevision: owner}},
		{"is gone", []storage.Guard{{Key: key("none"), ModRevision: owner}}, &storage.Guard{Key: key("none")}},
		{"nothing newer below", []storage.Guard{{Key: key("group/"), ModRevision: newest, Below: true}}, nil},
		{"nothing below", []storage.Guard{{Key: key("none/"), Below: true}}, nil},
		{
			"newer below", []storage.Guard{{Key: key("group/"), ModRevision: newest - 1, Below: true}},
			&storage.Guard{Key: key("group/"), ModRevision: newest, Below: true},
		},
		{"held", []storage.Guard{{Key: key("owner"), ModRevision: owner, Held: true}}, nil},
		{"held, later state", []storage.Guard{{Key: key("again"), ModRevision: second, Held: true}}, nil},
		{"held, nothing", []storage.Guard{{Key: key("none"), ModRevision: owner, Held: true}}, nil},
		{
			"held, created since", []storage.Guard{{Key: key("again"), ModRevision: second - 1, Held: true}},
			&storage.Guard{Key: key("again"), ModRevision: third, Held: true},
		},
		{
			"first of two", []storage.Guard{{Key: key("none"), ModRevision: 5}, {Key: key("owner")}},
			&storage.Guard{Key: key("none")},
		},
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

// testContention has many writers increment the same number.
func testContention(t *testing.T, s storage.Store) {
	const writers, adds = 8, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			var have storage.Record
			for n := 0; n < adds; {
				sum := 0
				_, _ = fmt.Sscan(string(have.Value), &sum)
				rev, err := s.Commit(
					t.Context(), storage.Txn{Key: key("sum"), Expect: have.ModRevision, Value: fmt.Append(nil, sum+1)})
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
		{
			"update of what is gone", storage.Txn{Key: key("b"), Expect: removed - 1, Value: []byte("3")},
			storage.Record{Key: key("b")},
		},
		{
			"key before guards",
			storage.Txn{Key: key("a"), Expect: first, Guards: []storage.Guard{{Key: key("c"), ModRevision: 1}}}, current,
		},
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

func testTooLarge(t *testing.T, s storage.Store) {
	_, err := s.Commit(t.Context(), storage.Txn{Key: key("large"), Value: make([]byte, 3<<20)})
	if !errors.Is(err, storage.ErrTooLarge) {
		t.Errorf("3 MiB: %v", err)
	}
	put(t, s, key("large"), 0, string(make([]byte, 1<<20)))
}
