package encryption_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/internal/encryption"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// reversed stores a key's name and the reverse of the value. What was not stored by it can't be opened.
type reversed struct{ head string }

var errHead = errors.New("another head")

func (r reversed) Open(key string, stored []byte) ([]byte, bool, error) {
	rest, ok := bytes.CutPrefix(stored, []byte(r.head+key+":"))
	if !ok {
		return nil, false, errHead
	}
	rest = slices.Clone(rest)
	slices.Reverse(rest)
	return rest, bytes.HasPrefix(rest, []byte("stale")), nil
}

func (r reversed) Seal(key string, value []byte) ([]byte, error) {
	if bytes.Equal(value, []byte("impossible")) {
		return nil, errHead
	}
	value = slices.Clone(value)
	slices.Reverse(value)
	return append([]byte(r.head+key+":"), value...), nil
}

const key = "/registry/secrets/default/a"

// TestUndecryptableValuesAreMarked: values are encrypted below, and those that can't be decrypted are marked in every
// read.
func TestUndecryptableValuesAreMarked(t *testing.T) {
	below := storagetest.NewTwin()
	s := encryption.NewStore(below, reversed{"x"}, "/registry")
	rev, err := s.Commit(t.Context(), storage.Txn{Key: key, Value: []byte("value")})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := below.Get(t.Context(), key); err != nil || string(r.Value) != "x"+key+":eulav" {
		t.Errorf("stored is %q, %v", r.Value, err)
	}
	if _, err := s.Commit(t.Context(), storage.Txn{Key: key, Expect: rev, Value: []byte("impossible")}); !errors.Is(err,
		errHead) {
		t.Errorf("a value that can't be encrypted: %v", err)
	}
	if _, err := s.Commit(t.Context(), storage.Txn{Key: "/other", Value: []byte("impossible")}); err != nil {
		t.Errorf("a key outside of the root: %v", err)
	}
	other := encryption.NewStore(below, reversed{"y"}, "/registry")
	check := func(what string, r storage.Record) {
		t.Helper()
		if !errors.Is(r.Err, errHead) || string(r.Value) != "x"+key+":eulav" || r.ModRevision != rev {
			t.Errorf("%s: %+v", what, r)
		}
	}
	r, err := other.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	check("get", r)
	p, err := other.List(t.Context(), storage.Range{Prefix: "/registry/secrets/"})
	if err != nil || len(p.Records) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	check("list", p.Records[0])
	_, err = other.Commit(t.Context(), storage.Txn{Key: key, Value: []byte("b")})
	var lost *storage.ConflictError
	if !errors.As(err, &lost) {
		t.Fatal(err)
	}
	check("conflict", lost.Current)
	ctx, cancel := context.WithCancel(t.Context())
	_ = other.Follow(ctx, func(b storage.Batch) error {
		e := b.Events[len(b.Events)-1]
		check("follow", storage.Record{Key: e.Key, Value: e.Value, ModRevision: e.Revision, Sealed: e.Sealed})
		cancel()
		return nil
	})
}

// TestRecordsKnowStaleValues: a record has whether the cipher finds its value stale.
func TestRecordsKnowStaleValues(t *testing.T) {
	s := encryption.NewStore(storagetest.NewTwin(), reversed{"x"}, "/registry")
	for value, want := range map[string]bool{"stale": true, "fresh": false} {
		if _, err := s.Commit(t.Context(), storage.Txn{Key: key + value, Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Get(t.Context(), key+value); err != nil || r.Stale != want || r.Err != nil {
			t.Errorf("%s: %+v, %v", value, r, err)
		}
	}
}
