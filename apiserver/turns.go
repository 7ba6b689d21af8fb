package apiserver

import (
	"context"
	"slices"
	"sync"
)

// turns lets a few at a time do long work. Those that wait have their turns by holder, one after the other, those of one
// holder in the order in which they came: so many of one holder delay another's first by one turn only.
type turns struct {
	mu   sync.Mutex
	free int
	// waiting are channels that are closed when it is their turn. A holder has an entry only while it has some.
	waiting map[string][]chan struct{}
	// order is the holders that have some, the next one first.
	order []string
}

// newTurns returns turns with n places.
func newTurns(n int) *turns { return &turns{free: n, waiting: map[string][]chan struct{}{}} }

// acquire waits for a turn, which release ends, within aside unless there is one at once. The error is ctx's, if that
// ends before.
func (t *turns) acquire(ctx context.Context, holder string, aside func(wait func())) (release func(), err error) {
	turn := t.enter(holder)
	if turn == nil {
		return t.release, nil
	}
	aside(func() { release, err = t.await(ctx, holder, turn) })
	return release, err
}

// await is acquire for who has to wait.
func (t *turns) await(ctx context.Context, holder string, turn chan struct{}) (release func(), err error) {
	select {
	case <-turn:
		return t.release, nil
	case <-ctx.Done():
		if !t.leave(holder, turn) { // the turn has come meanwhile
			t.release()
		}
		return nil, ctx.Err()
	}
}

// enter takes a place, or else returns what is closed when there is one.
func (t *turns) enter(holder string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	turn := make(chan struct{})
	if len(t.waiting[holder]) == 0 {
		t.order = append(t.order, holder)
	}
	t.waiting[holder] = append(t.waiting[holder], turn)
	return turn
}

// leave waits no longer, and reports whether it did.
func (t *turns) leave(holder string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting[holder], turn)
	if i < 0 {
		return false
	}
	t.waiting[holder] = slices.Delete(t.waiting[holder], i, i+1)
	if len(t.waiting[holder]) == 0 {
		delete(t.waiting, holder)
		i := slices.Index(t.order, holder)
		t.order = slices.Delete(t.order, i, i+1)
	}
	return true
}

// release gives the place to the next.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	holder := t.order[0]
	t.order = slices.Delete(t.order, 0, 1)
	all := t.waiting[holder]
	close(all[0])
	if all[0] = nil; len(all) == 1 {
		delete(t.waiting, holder)
		return
	}
	t.waiting[holder] = all[1:]
	t.order = append(t.order, holder)
}
