package storage_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestExclude: what Exclusive writes is all there, however large it is, in revisions after Begin's; requests wait until
// it has ended, and reads before the forgotten revision fail.
func TestExclude(t *testing.T) {
	e := storagetest.Open(t)
	const dir = "/registry/configmaps/default/"
	large := strings.Repeat("x", 1400<<10)
	if _, err := e.Commit(t.Context(), storage.Txn{Key: dir + "old", Value: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	event := storage.Txn{Key: "/registry/events/default/e", Value: []byte("{}"), TTL: time.Hour}
	if _, err := e.Commit(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	var before, began, last int64
	err := e.Exclude(func(x *storage.Exclusive) error {
		others.Go(func() { // it waits
			rev, err := e.Commit(t.Context(), storage.Txn{Key: dir + "other", Value: []byte("{}")})
			if err != nil || rev <= last {
				t.Errorf("a commit meanwhile: revision %d after %d, %v", rev, last, err)
			}
		})
		var err error
		if began, err = x.Begin(); err != nil {
			return err
		}
		before = began - 1
		writes := []storage.Write{{Key: dir + "old"}, {Key: dir + "absent"}, {Key: event.Key, Expires: true}}
		for i := range 1000 {
			w := storage.Write{Key: fmt.Sprintf("%s%04d", dir, i), Value: []byte("{}"), Expires: i%100 == 0}
			if i%300 == 0 {
				w.Value = []byte(large)
			}
			writes = append(writes, w)
		}
		last, err = x.Write(all(writes), 4*len(large)+len(writes)*100, time.Hour)
		x.Forget(last)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	others.Wait()
	page, err := e.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: last})
	if err != nil || len(page.Records) != 1000 {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	for i, r := range page.Records {
		want := "{}"
		if i%300 == 0 {
			want = large
		}
		if r.Key != fmt.Sprintf("%s%04d", dir, i) || string(r.Value) != want || r.ModRevision <= began || r.ModRevision >= last {
			t.Fatalf("%s with %d bytes at revision %d of %d to %d", r.Key, len(r.Value), r.ModRevision, began, last)
		}
	}
	if _, err := e.List(t.Context(), storage.Range{Prefix: dir, Revision: before}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("before: %v", err)
	}
}

// all yields the writes.
func all(writes []storage.Write) iter.Seq2[storage.Write, error] {
	return func(yield func(storage.Write, error) bool) {
		for _, w := range writes {
			if !yield(w, nil) {
				return
			}
		}
	}
}

// TestExcludeStragglers: a commit that was given up is carried out before Begin, after the last write, or never.
func TestExcludeStragglers(t *testing.T) {
	e := storagetest.Open(t)
	for round := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		var others sync.WaitGroup
		for i := range 8 {
			others.Go(func() {
				key := fmt.Sprintf("/registry/configmaps/default/%d-%d", round, i)
				_, _ = e.Commit(ctx, storage.Txn{Key: key, Value: []byte("{}")}) // it may be canceled
			})
		}
		cancel()
		var began, last int64
		err := e.Exclude(func(x *storage.Exclusive) (err error) {
			if began, err = x.Begin(); err == nil {
				last, err = x.Write(all(nil), 0, 0)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		others.Wait()
		page, err := e.List(t.Context(), storage.Range{Prefix: fmt.Sprintf("/registry/configmaps/default/%d-", round)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Records {
			if r.ModRevision >= began && r.ModRevision <= last {
				t.Errorf("%s was written at revision %d, between %d and %d", r.Key, r.ModRevision, began, last)
			}
		}
	}
}

// TestStored: Stored returns what an object was decoded from.
func TestStored(t *testing.T) {
	d := storage.Decoder{Root: "/registry", Transcode: func([]byte) ([]byte, error) {
		return []byte(`{"metadata":{"name":"a"}}`), nil
	}}
	for _, value := range []string{
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","creationTimestamp":null},"data":{"b":"c"}}`,
		`{"apiVersion":"v1","metadata":{"name":"a","uid":"u"}}`,
		`{"apiVersion":"v1","metadata":{"annotations":{"b":"c"},"name":"a"},"z":{}}`,
		`{"metadata":{}}`, `{"metadata":{"uid":"u"}}`, `{"kind":"X","metadata":{"labels":{}}}`,
		`not JSON`, `{"metadata":1}`, "k8s\x00protobuf",
	} {
		record := storage.Record{Key: "/registry/configmaps/default/a", Value: []byte(value), ModRevision: 7}
		was := d.Decode(record)
		stored, sealed, err := was.Stored()
		if strings.HasPrefix(value, "k8s") {
			value = `{"metadata":{"name":"a"}}`
		}
		if err != nil || sealed || string(stored) != value {
			t.Errorf("%s: %s, %v, %v", value, stored, sealed, err)
		}
	}
	record := storage.Record{Key: "/registry/secrets/default/a", Value: []byte("k8s:enc:aescbc:v1:key1:..."), ModRevision: 7}
	record.Err = errors.New("there is no key")
	stored, sealed, err := d.Decode(record).Stored()
	if err != nil || !sealed || string(stored) != string(record.Value) {
		t.Errorf("an encrypted value: %s, %v, %v", stored, sealed, err)
	}
}
