package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/storage"
)

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
				if p, err := s.List(t.Context(), storage.Range{
					Prefix: k, Limit: 1,
				}); err != nil || p.Revision < rev || p.Records[0].ModRevision != rev {
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
	if _, err := s.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: gone + 1}); !errors.Is(
		err, storage.ErrFuture,
	) {
		t.Errorf("in the future: %v", err)
	}
	if err := s.Compact(t.Context(), gone+1); !errors.Is(err, storage.ErrFuture) {
		t.Errorf("compacting the future: %v", err)
	}
	for range 2 { // the second compaction does nothing
		if err := s.Compact(t.Context(), a2); err != nil {
			t.Errorf("compacting: %v", err)
		}
	}
	for _, rev := range []int64{a, b} {
		if _, err := s.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: rev}); !errors.Is(
			err, storage.ErrCompacted,
		) {
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
		all = append(
			all, storage.Record{Key: k, Value: []byte{byte(i)}, ModRevision: put(t, s, k, 0, string([]byte{byte(i)}))})
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
		put(t, s, key(fmt.Sprintf("%02d-later", len(got))), 0, "y") // not visible at the first page's revision
		r.Revision, r.From = p.Revision, p.Records[len(p.Records)-1].Key+"\x00"
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for _, r := range []storage.Range{
		{Prefix: "/registry/none/"}, {Prefix: key(""), From: key("~")}, {Prefix: key(""), From: "/registry/z"},
	} {
		if p, err := s.List(t.Context(), r); err != nil || len(p.Records) != 0 || p.More || p.Remaining != 0 {
			t.Errorf("%+v: %+v, %v", r, p, err)
		}
	}
}
