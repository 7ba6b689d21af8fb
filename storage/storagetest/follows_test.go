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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubecascade/kubecascade/storage"
)

// testTimeline starts followers while writers write.
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
		} else if diff := cmp.Diff(first[len(first)-len(events):], events, cmpopts.EquateEmpty()); diff != "" {
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
