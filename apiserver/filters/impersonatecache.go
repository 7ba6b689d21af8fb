package filters

import (
	"slices"
	"sync"
)

// maxCached is the limit of cached users. At the limit, the cache is cleared.
const maxCached = 10_000

// modeCache holds, for a user's name, the mode that last allowed the user to impersonate: an index into modes (AS
// pkg/endpoints/filters/impersonation/cache.go: modeIndexCache).
type modeCache struct {
	// mu guards last.
	mu   sync.Mutex
	last map[string]int
}

// order returns the order in which the modes are tried for a user. The mode that last allowed it comes first.
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
	if c.last == nil || len(c.last) >= maxCached {
		c.last = map[string]int{}
	}
	c.last[user] = mode
}
