package filters

import (
	"slices"
	"sync"
)

// mostCached bounds how many users' modes are cached; beyond, all are forgotten.
const mostCached = 10_000

// modeCache holds by which mode users were last allowed to impersonate, by their names: indexes of modes
// (AS pkg/endpoints/filters/impersonation/cache.go: modeIndexCache).
type modeCache struct {
	// mu guards last.
	mu   sync.Mutex
	last map[string]int
}

// order is in which order modes are tried for a user: the one that allowed it last comes first.
func (c *modeCache) order(user string) []int {
	order := make([]int, len(modes))
	for i := range order {
		order[i] = i
	}
	c.mu.Lock()
	last, ok := c.last[user]
	c.mu.Unlock()
	if ok {
		order = append([]int{last}, slices.Delete(order, last, last+1)...)
	}
	return order
}

func (c *modeCache) set(user string, mode int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || len(c.last) >= mostCached {
		c.last = map[string]int{}
	}
	c.last[user] = mode
}
