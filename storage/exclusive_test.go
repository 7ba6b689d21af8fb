package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestExcludeDelaysOtherRequests: requests wait until the exclusive function has ended, and reads before the forgotten
// revision fail.
func TestExcludeDelaysOtherRequests(t *testing.T) {
	e := storagetest.Open(t)
	const dir = "/registry/configmaps/default/"
	old, err := e.Commit(t.Context(), storage.Txn{Key: dir + "old", Value: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	var last int64
	err = e.Exclude(func(x *storage.Exclusive) error {
		others.Go(func() { // it waits
			rev, err := e.Commit(t.Context(), storage.Txn{Key: dir + "other", Value: []byte("{}")})
			if err != nil || rev <= last {
				t.Errorf("a commit meanwhile: revision %d after %d, %v", rev, last, err)
			}
		})
		if began := x.Revision(); began != old {
			t.Errorf("it begins at revision %d, want %d", began, old)
		}
		var err error
		for i := range 100 {
			last, err = x.Commit(x.Life(), storage.Txn{Key: fmt.Sprint(dir, i), Value: []byte("{}")})
			if err != nil || last != old+1+int64(i) {
				t.Errorf("an exclusive commit: revision %d, %v", last, err)
			}
		}
		x.Forget(last)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	others.Wait()
	page, err := e.List(t.Context(), storage.Range{Prefix: dir, Revision: last})
	if err != nil || len(page.Records) != 101 {
		t.Fatalf("%d records, %v", len(page.Records), err)
	}
	if _, err := e.List(t.Context(), storage.Range{Prefix: dir, Revision: old}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("before: %v", err)
	}
}

// TestAbandonedCommitIsNotCarriedOutInExclude: a commit that was given up is carried out before Exclude's function,
// after it, or never.
func TestAbandonedCommitIsNotCarriedOutInExclude(t *testing.T) {
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
		err := e.Exclude(func(x *storage.Exclusive) error {
			began := x.Revision()
			key := fmt.Sprint("/registry/secrets/default/", round)
			last, err := x.Commit(x.Life(), storage.Txn{Key: key, Value: []byte("{}")})
			if err == nil && last != began+1 {
				t.Errorf("revision %d follows %d", last, began)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		others.Wait()
	}
}

// TestStoredReturnsTheDecodedValue: Stored returns what an object was decoded from.
func TestStoredReturnsTheDecodedValue(t *testing.T) {
	d := storage.Decoder{Root: "/registry", Transcode: func([]byte) ([]byte, error) {
		return []byte(`{"metadata":{"name":"a"}}`), nil
	}}
	for _, value := range []string{
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","creationTimestamp":null},` +
			`"data":{"b":"c"}}`,
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
	record := storage.Record{Key: "/registry/secrets/default/a", ModRevision: 7}
	record.Value = []byte("k8s:enc:aescbc:v1:key1:...")
	record.Err = errors.New("there is no key")
	stored, sealed, err := d.Decode(record).Stored()
	if err != nil || !sealed || string(stored) != string(record.Value) {
		t.Errorf("an encrypted value: %s, %v, %v", stored, sealed, err)
	}
}
