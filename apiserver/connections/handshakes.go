package connections

import "sync"

// handshakes limits how many handshakes are computed at a time.
type handshakes struct {
	mu   sync.Mutex // guards both
	free int
	// waiting are the handshakes that wait. The last one is next: its client has waited for the shortest time and is
	// the most likely to be still there.
	waiting []*waiter
}

type waiter struct{ granted chan struct{} }

// take waits for a place; false if gone is closed before.
func (t *handshakes) take(gone <-chan struct{}) bool {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return true
	}
	w := &waiter{make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	select {
	case <-w.granted:
		return true
	case <-gone:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.waiting {
		if other == w {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			return false
		}
	}
	t.next() // it was granted at the same moment
	return false
}

// give returns a place.
func (t *handshakes) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next passes a place on. mu is held.
func (t *handshakes) next() {
	n := len(t.waiting)
	if n == 0 {
		t.free++
		return
	}
	w := t.waiting[n-1]
	t.waiting = t.waiting[:n-1]
	close(w.granted)
}

// count is how many handshakes wait.
func (t *handshakes) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
