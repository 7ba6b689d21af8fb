package storage_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestHistoryIsKeptForOneOrTwoIntervals: history is kept for at least one interval and at most two, also by two servers
// that share the store.
func TestHistoryIsKeptForOneOrTwoIntervals(t *testing.T) {
	for _, servers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { compactFor(t, servers) })
		})
	}
}

func compactFor(t *testing.T, servers int) {
	const every = time.Minute
	store := storagetest.NewTwin()
	ctx, cancel := context.WithCancel(t.Context())
	for range servers {
		c, err := storage.NewCompactor(ctx, store, every, slog.Default())
		if err != nil {
			t.Fatal(err)
		}
		go c.Run(ctx)
	}
	var written []int64 // a revision for each ten seconds
	for i := range 60 {
		rev, err := store.Commit(ctx, storage.Txn{Key: fmt.Sprintf("/registry/pods/default/p%d", i), Value: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, rev)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		readable := func(ago time.Duration) bool {
			i := len(written) - 1 - int(ago/(10*time.Second))
			if i < 0 {
				return ago < every
			}
			_, err := store.List(ctx, storage.Range{Prefix: "/registry/pods/", Revision: written[i]})
			if err != nil && !errors.Is(err, storage.ErrCompacted) {
				t.Fatal(err)
			}
			return err == nil
		}
		if !readable(every - 10*time.Second) {
			t.Fatalf("after %d writes the state of less than one interval ago is gone", i+1)
		}
		if i > 20 && readable(2*every+20*time.Second) {
			t.Fatalf("after %d writes the state of more than two intervals ago is still there", i+1)
		}
	}
	cancel()
	synctest.Wait()
}

// TestCompactorNever: an interval of zero keeps all history.
func TestCompactorNever(t *testing.T) {
	store := storagetest.NewTwin()
	c, err := storage.NewCompactor(t.Context(), store, 0, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	c.Run(t.Context()) // returns at once
	if _, err := store.List(t.Context(), storage.Range{Prefix: "/registry/", Revision: 2}); err != nil {
		t.Errorf("the first revision can't be read: %v", err)
	}
}

// TestCompactorNoSpace: if there is no space to write the agreement of the servers, history is compacted nevertheless.
func TestCompactorNoSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &outOfSpace{Store: storagetest.NewTwin()}
		ctx, cancel := context.WithCancel(t.Context())
		c, err := storage.NewCompactor(ctx, store, time.Minute, slog.Default())
		if err != nil {
			t.Fatal(err)
		}
		go c.Run(ctx)
		for i := range 4 {
			if _, err := store.Store.Commit(
				ctx, storage.Txn{Key: fmt.Sprint("/registry/pods/default/p", i), Value: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		if diff := cmp.Diff([]int64{2, 3, 4}, store.compacted); diff != "" {
			t.Errorf("compacted (-want +got):\n%s", diff)
		}
	})
}
