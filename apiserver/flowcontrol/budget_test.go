package flowcontrol

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// TestAcquireLeavesHalfToOtherUsers: one user gets half of the budget, and another user gets the rest without waiting.
func TestAcquireLeavesHalfToOtherUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		if _, err := b.Acquire(t.Context(), "a", 51); !errors.Is(err, status.ErrTooLarge) {
			t.Errorf("more than half: %v", err)
		}
		release, err := b.Acquire(t.Context(), "a", 50)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Acquire(t.Context(), "a", 1); !errors.Is(err, status.ErrFull) {
			t.Errorf("beyond half: %v", err)
		}
		other, err := b.Acquire(t.Context(), "b", 50)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Acquire(t.Context(), "c", 2); !errors.Is(err, status.ErrFull) {
			t.Errorf("beyond all: %v", err)
		}
		release()
		again, err := b.Acquire(t.Context(), "c", 50)
		if err != nil {
			t.Fatal(err)
		}
		again()
		other()
		if len(b.shares.users) != 0 {
			t.Errorf("%d users hold nothing", len(b.shares.users))
		}
	})
}

// TestAcquireWaits: a waiting request gets the bytes that another one releases, but none after its context has ended.
func TestAcquireWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		first, err := b.Acquire(t.Context(), "a", 50)
		if err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Acquire(ended, "a", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the request: %v", err)
		}
		got := make(chan error)
		go func() {
			release, err := b.Acquire(t.Context(), "a", 50)
			if err == nil {
				release()
			}
			got <- err
		}()
		synctest.Wait()
		first()
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// TestLittleWaitsForNoLargeRequest: a small request is served while a large one waits.
func TestLittleWaitsForNoLargeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(6400)
		for _, name := range []string{"a", "b"} {
			if _, err := b.Acquire(t.Context(), name, 3000); err != nil {
				t.Fatal(err)
			}
		}
		go func() { _, _ = b.Acquire(t.Context(), "c", 3000) }()
		synctest.Wait()
		release, err := b.Acquire(t.Context(), "d", 100)
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
}

// TestSharesRejectAtOnce: if the maximum number of a user's requests are waiting, the next one is rejected without
// waiting.
func TestSharesRejectAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShares(1, 2)
		release, err := s.Acquire(t.Context(), "a", 1)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if release, err := s.Acquire(t.Context(), "a", 1); err == nil {
				release()
			}
		}()
		synctest.Wait()
		if _, err := s.Acquire(t.Context(), "a", 1); !errors.Is(err, status.ErrFull) {
			t.Errorf("the third: %v", err)
		}
		release()
	})
}

// TestTrySucceedsWithinShareAndTotal: the bytes must be free within the user's share and within the total.
func TestTrySucceedsWithinShareAndTotal(t *testing.T) {
	b := NewBudget(100)
	if _, ok := b.Try("a", 51); ok {
		t.Error("more than half")
	}
	release, ok := b.Try("a", 50)
	if !ok {
		t.Fatal("the whole share")
	}
	if _, ok := b.Try("a", 1); ok {
		t.Error("beyond the share")
	}
	if _, ok := b.Try("b", 50); !ok {
		t.Error("another user's share")
	}
	release()
	if _, ok := b.Try("a", 50); !ok || b.Held() != 100 {
		t.Errorf("after the release: %v, %d bytes held", ok, b.Held())
	}
}
