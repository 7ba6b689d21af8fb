package checkpoint

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestWaitingCallEndsWithContext: a call that waits for another one ends with its context, or with the server.
func TestWaitingCallEndsWithContext(t *testing.T) {
	life, end := context.WithCancel(t.Context())
	c := New(Checkpoints{Life: life})
	c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Rollback(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
	end()
	if _, err := c.Make(t.Context(), ""); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("when the server ends: %v", err)
	}
}
