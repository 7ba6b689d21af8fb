package apiserver

import (
	"slices"
	"sync"
)

// mostWays bounds how many users' ways are remembered; beyond, all are forgotten.
const mostWays = 10_000

// ways are how users were last allowed to act as somebody, by their names: indexes of impersonations.
type ways struct {
	// mu guards last.
	mu   sync.Mutex
	last map[string]int
}

// order is in which order a user's ways are tried: the one that was good last time comes first
// (AS pkg/endpoints/filters/impersonation/cache.go: modeIndexCache).
func (w *ways) order(user string) []int {
	order := make([]int, len(impersonations))
	for i := range order {
		order[i] = i
	}
	w.mu.Lock()
	last, ok := w.last[user]
	w.mu.Unlock()
	if ok {
		order = append([]int{last}, slices.Delete(order, last, last+1)...)
	}
	return order
}

func (w *ways) set(user string, way int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil || len(w.last) >= mostWays {
		w.last = map[string]int{}
	}
	w.last[user] = way
}
