package server

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// lifecycle ends a server.
type lifecycle struct {
	// undo has the functions that end the started parts, in the order of the starts.
	undo []func() error
	// request closes stopping, so that the server ends.
	request  func()
	stopping chan struct{}
	// failed receives the first error that ends the server.
	failed chan error
	// broken is done after the storage has called fatal (storage.Config.Fatal); its cause is the error.
	broken context.Context
	fatal  context.CancelCauseFunc
	// life is done when the server begins to end; end ends it.
	life context.Context
	end  func()
	// ended is closed when everything has ended, after err was set.
	ended chan struct{}
	err   error
}

func newLifecycle(broken context.Context, fatal context.CancelCauseFunc) lifecycle {
	l := lifecycle{broken: broken, fatal: fatal, stopping: make(chan struct{}), failed: make(chan error, 1),
		ended: make(chan struct{})}
	l.request = sync.OnceFunc(func() { close(l.stopping) })
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// addUndo adds the function that ends the part that was just started.
func (l *lifecycle) addUndo(undo func() error) { l.undo = append(l.undo, undo) }

// undoAll ends all started parts, the last one first.
func (l *lifecycle) undoAll() (err error) {
	for _, f := range slices.Backward(l.undo) {
		err = errors.Join(err, f())
	}
	return err
}

// fail ends the server with an error. Only the first one counts.
func (l *lifecycle) fail(err error) {
	select {
	case l.failed <- err:
	default:
	}
}

// until waits until the channel is closed, or returns the error with which the server ends by itself.
func (l *lifecycle) until(closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case err := <-l.failed:
		return err
	case <-l.broken.Done():
		return context.Cause(l.broken)
	}
}

// Stop ends the server, waits for it, and returns Err.
func (l *lifecycle) Stop() error {
	l.request()
	<-l.ended
	return l.err
}

// Done returns a channel that is closed when the server has ended, whether or not Stop was called.
func (l *lifecycle) Done() <-chan struct{} { return l.ended }

// Err returns the error with which the server has ended; nil while it runs.
func (l *lifecycle) Err() error {
	select {
	case <-l.ended:
		return l.err
	default:
		return nil
	}
}
