package storagetest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/kubecascade/kubecascade/internal/encryption"
	"github.com/kubecascade/kubecascade/storage"
)

func TestTwinKeepsGuarantees(t *testing.T) {
	run(t, func(t *testing.T) storage.Store { return NewTwin() })
}

func TestEphemeralStoreKeepsGuarantees(t *testing.T) {
	run(t, func(t *testing.T) storage.Store { return Open(t) })
}

func TestDurableStoreKeepsGuarantees(t *testing.T) {
	run(t, func(t *testing.T) storage.Store { return OpenConfig(t, storage.Config{DataDir: t.TempDir()}) })
}

func TestEncryptedStoreKeepsGuarantees(t *testing.T) {
	run(t, func(t *testing.T) storage.Store { return encryption.NewStore(NewTwin(), prefix{}, storage.DefaultRoot) })
}

// prefix is a cipher that puts the key before the value.
type prefix struct{}

func (prefix) Open(key string, stored []byte) ([]byte, bool, error) {
	return bytes.TrimPrefix(stored, []byte(key)), false, nil
}

func (prefix) Seal(key string, value []byte) ([]byte, error) {
	return append([]byte(key), value...), nil
}

// run tests the numbered guarantees of package storage. Each call of open returns a new, empty store whose root is
// /registry.
func run(t *testing.T, open func(t *testing.T) storage.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, storage.Store)
	}{
		{"1 one object one revision", testOneRevision},
		{"2 guards", testGuards},
		{"2 contention", testContention},
		{"3 conflict returns the winner", testConflict},
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

func remove(t *testing.T, s storage.Store, k string, expect int64) int64 {
	t.Helper()
	rev, err := s.Commit(t.Context(), storage.Txn{Key: k, Expect: expect})
	if err != nil {
		t.Fatalf("removing %s: %v", k, err)
	}
	return rev
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
