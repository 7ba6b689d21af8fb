package storagetest

import (
	"errors"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

func TestTwinClock(t *testing.T) {
	w := NewTwin()
	commit := func(name string, expect int64, ttl time.Duration) int64 {
		t.Helper()
		rev, err := w.Commit(t.Context(), storage.Txn{Key: key(name), Expect: expect, Value: []byte("x"), TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	commit("short", 0, 1500*time.Millisecond) // rounded up to 2 s
	commit("renewed", commit("renewed", 0, 2*time.Second), time.Hour)
	kept := commit("kept", commit("kept", 0, 2*time.Second), 0)
	w.Advance(1999 * time.Millisecond)
	if r, err := w.Get(t.Context(), key("short")); err != nil {
		t.Errorf("expired early: %v, %v", r, err)
	}
	w.Advance(time.Millisecond)
	if _, err := w.Get(t.Context(), key("short")); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("not expired: %v", err)
	}
	if rev, _ := w.Revision(t.Context()); rev != kept+1 {
		t.Errorf("revision %d after one removal, was %d", rev, kept)
	}
}

func TestTwinRestart(t *testing.T) {
	w := NewTwin()
	l := Watch(t, w)
	l.WaitForReset(1)
	rev := put(t, w, key("a"), 0, "x")
	w.Restart()
	l.WaitForReset(2)
	l.WaitFor(rev)
	if state := l.State(); len(state) != 1 || state[0].ModRevision != rev {
		t.Errorf("state %v", state)
	}
}
