package storage

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"
)

// TestBloatedFileIsDefragmented opens a file that is far larger than its quota and almost empty. The file is rewritten;
// its content and its followers do not change.
func TestBloatedFileIsDefragmented(t *testing.T) {
	c := Config{DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	e, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Commit(t.Context(), Txn{Key: "/registry/kept", Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		key := fmt.Sprint("/registry/", i)
		rev, err := e.Commit(t.Context(), Txn{Key: key, Value: make([]byte, 256<<10)})
		if err == nil {
			_, err = e.Commit(t.Context(), Txn{Key: key, Expect: rev})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	c.QuotaBytes = 1 << 20
	if e, err = Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	file := e.local.Etcd().Backend()
	before := file.Size()
	if before < 8*c.QuotaBytes {
		t.Fatalf("the file has only %d bytes", before)
	}
	after := make(chan error, 1)
	last := make(chan int64, 1)
	go func() {
		after <- e.Follow(t.Context(), func(b Batch) error {
			if n := len(b.Events); n > 0 && b.Events[n-1].Key == "/registry/last" {
				last <- b.Revision
			}
			return nil
		})
	}()
	for i := 0; file.Size() > 2*c.QuotaBytes; i++ { // the test's time limit bounds it
		if _, err := e.Commit(t.Context(), Txn{
			Key: fmt.Sprint("/registry/asking-", i), Value: []byte("x"),
		}); err != nil && !errors.Is(err, ErrNoSpace) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	rev, err := e.Commit(t.Context(), Txn{Key: "/registry/last", Value: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-last; got < rev {
		t.Errorf("followed to %d, not %d", got, rev)
	}
	if r, err := e.Get(t.Context(), "/registry/kept"); err != nil || string(r.Value) != "x" {
		t.Errorf("kept: %q, %v", r.Value, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := <-after; !errors.Is(err, ErrUnavailable) {
		t.Errorf("follower: %v", err)
	}
}
