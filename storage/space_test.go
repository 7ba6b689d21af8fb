package storage_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

const smallQuota = 1 << 20

// fillUp creates keys until there is no space, and returns their revisions.
func fillUp(t *testing.T, s storage.Store, name string) map[string]int64 {
	t.Helper()
	revs := map[string]int64{}
	for i := range 1000 {
		key := fmt.Sprintf("/registry/configmaps/default/%s-%03d", name, i)
		rev, err := s.Commit(t.Context(), storage.Txn{Key: key, Value: make([]byte, 64<<10)})
		if errors.Is(err, storage.ErrNoSpace) {
			return revs
		}
		if err != nil {
			t.Fatal(err)
		}
		revs[key] = rev
	}
	t.Fatal("there is still space")
	return nil
}

func removeAll(t *testing.T, s storage.Store, revs map[string]int64) {
	t.Helper()
	for key, rev := range revs {
		if _, err := s.Commit(t.Context(), storage.Txn{Key: key, Expect: rev}); err != nil {
			t.Fatalf("removing %s: %v", key, err)
		}
	}
}

// create repeats a commit while there is no space, up to the test's time limit.
func create(t *testing.T, s storage.Store, key string, size int) int64 {
	t.Helper()
	for {
		rev, err := s.Commit(t.Context(), storage.Txn{Key: key, Value: make([]byte, size)})
		if err == nil {
			return rev
		}
		if !errors.Is(err, storage.ErrNoSpace) {
			t.Fatalf("creating %s: %v", key, err)
		}
	}
}

// TestSpaceIsReclaimedAfterDeletions fills a store twice, deletes everything, and writes again, while someone follows.
func TestSpaceIsReclaimedAfterDeletions(t *testing.T) {
	t.Parallel()
	e := storagetest.OpenConfig(
		t, storage.Config{Ephemeral: true, QuotaBytes: smallQuota, Logger: slog.New(slog.DiscardHandler)})
	l := storagetest.Watch(t, e)
	l.WaitForReset(1)
	for _, name := range []string{"a", "b"} {
		revs := fillUp(t, e, name)
		// Pages that the last writes have freed count as used until later writes, so fewer values may fit. The second
		// time, the space of the first values may not have been freed yet.
		if n := len(revs); name == "a" && n < 4 || n > smallQuota/(64<<10) {
			t.Errorf("%d values of 64 kB fill a quota of 1 MiB", n)
		}
		removeAll(t, e, revs)
		key := "/registry/configmaps/default/" + name
		l.WaitFor(create(t, e, key, 64<<10))
	}
	if s := l.State(); len(s) != 2 {
		t.Errorf("the follower has %d keys, not 2", len(s))
	}
}

// TestHistoryIsReclaimedWithoutDeletions: what fills the store is history, so nothing has to be removed.
func TestHistoryIsReclaimedWithoutDeletions(t *testing.T) {
	t.Parallel()
	e := storagetest.OpenConfig(
		t, storage.Config{Ephemeral: true, QuotaBytes: smallQuota, Logger: slog.New(slog.DiscardHandler)})
	const key = "/registry/configmaps/default/a"
	rev := create(t, e, key, 64<<10)
	for range 40 { // more than the quota takes
		for {
			next, err := e.Commit(t.Context(), storage.Txn{Key: key, Expect: rev, Value: make([]byte, 64<<10)})
			if err == nil {
				rev = next
				break
			}
			if !errors.Is(err, storage.ErrNoSpace) {
				t.Fatal(err)
			}
		}
	}
}

// TestValuesCanBeReplacedBeyondTheQuota: when no key can be created any more, values can still be replaced.
func TestValuesCanBeReplacedBeyondTheQuota(t *testing.T) {
	// With this quota the reserve, a sixteenth of it, is larger than the space that a commit of large values needs
	// temporarily.
	e := storagetest.OpenConfig(
		t, storage.Config{Ephemeral: true, QuotaBytes: 16 * smallQuota, Logger: slog.New(slog.DiscardHandler)})
	const key = "/registry/configmaps/default/first"
	rev := put(t, e, "first", 0, "x", 0)
	fillUp(t, e, "a")
	var err error
	for i := 0; err == nil && i < 1000; i++ { // fills the space that is too small for a large value
		_, err = e.Commit(
			t.Context(), storage.Txn{Key: fmt.Sprint("/registry/configmaps/default/small-", i), Value: make([]byte, 4000)},
		)
	}
	if !errors.Is(err, storage.ErrNoSpace) {
		t.Fatalf("creating: %v", err)
	}
	if _, err := e.Commit(t.Context(), storage.Txn{Key: key, Expect: rev, Value: []byte("y")}); err != nil {
		t.Errorf("replacing: %v", err)
	}
}

// TestRestartFull closes a store that is full, opens it, and writes again after deletes.
func TestRestartFull(t *testing.T) {
	c := storage.Config{DataDir: t.TempDir(), QuotaBytes: smallQuota, Logger: slog.New(slog.DiscardHandler)}
	e := storagetest.OpenConfig(t, c)
	if _, err := storage.NewCompactor(t.Context(), e, 0, c.Logger); err != nil {
		t.Fatal(err)
	}
	revs := fillUp(t, e, "a")
	if err := e.Close(); err != nil { // while space is reclaimed
		t.Fatal(err)
	}
	e = storagetest.OpenConfig(t, c)
	if _, err := storage.NewCompactor(t.Context(), e, 0, c.Logger); err != nil {
		t.Errorf("compactor: %v", err)
	}
	if p, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"}); err != nil || len(p.Records) != len(revs) {
		t.Errorf("%d records of %d, %v", len(p.Records), len(revs), err)
	}
	removeAll(t, e, revs)
	create(t, e, "/registry/configmaps/default/b", 64<<10)
}

// TestCloseReclaiming closes a store in which writers meet the quota all the time.
func TestCloseReclaiming(t *testing.T) {
	e := storagetest.OpenConfig(
		t, storage.Config{DataDir: t.TempDir(), QuotaBytes: smallQuota, Logger: slog.New(slog.DiscardHandler)})
	revs := fillUp(t, e, "a")
	var busy sync.WaitGroup
	for w := range 4 {
		busy.Go(func() {
			for {
				_, err := e.Commit(context.Background(),
					storage.Txn{Key: fmt.Sprint("/registry/configmaps/default/w", w), Value: make([]byte, 64<<10)})
				if errors.Is(err, storage.ErrUnavailable) {
					return
				}
			}
		})
	}
	removeAll(t, e, revs)
	if err := e.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	busy.Wait()
}

// outOfSpace is a store in which no put has space.
type outOfSpace struct {
	storage.Store
	compacted []int64
}

func (s *outOfSpace) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	return 0, fmt.Errorf("committing: %w", storage.ErrNoSpace)
}

func (s *outOfSpace) Compact(ctx context.Context, rev int64) error {
	s.compacted = append(s.compacted, rev)
	return s.Store.Compact(ctx, rev)
}
