package idle

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// startRest is how long after the start the process is first checked.
	startRest = time.Second
	// restEvery is the interval of checks whether the process is idle.
	restEvery = 10 * time.Second
	// restBytes is how much an idle process may allocate between two checks.
	restBytes = 16 << 20
	// spareBytes is how much unused memory is worth a collection.
	spareBytes = 16 << 20
)

// heap is the result of a check, in bytes: all allocations so far, and the memory that the process holds and no
// object needs.
type heap struct{ allocated, unused uint64 }

// look reads the runtime's metrics.
func look() heap {
	s := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	garbage := s[3].Value.Uint64() - min(s[3].Value.Uint64(), s[4].Value.Uint64())
	return heap{allocated: s[0].Value.Uint64(), unused: s[1].Value.Uint64() + s[2].Value.Uint64() + garbage}
}

// spare reports whether to return memory: the process is idle after work that took much memory.
func spare(before, now heap) bool {
	return now.allocated-before.allocated < restBytes && now.unused > spareBytes
}

// ReturnMemory returns the memory of a burst of work to the system, which the runtime itself keeps for minutes in case that
// there is more to do. The first burst is the start: what it leaves is little, but more than half of the heap of an
// idle server. It returns when ctx is done.
func ReturnMemory(ctx context.Context) {
	tick := time.NewTicker(startRest)
	defer tick.Stop()
	before, freed := look(), false
	select {
	case <-ctx.Done():
		return
	case <-tick.C:
	}
	if now := look(); now.allocated-before.allocated < restBytes {
		debug.FreeOSMemory()
		before = now
	}
	tick.Reset(restEvery)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := look()
		switch {
		case now.allocated-before.allocated >= restBytes:
			freed = false
		case !freed && spare(before, now): // once after each burst: memory that stays unused is needed later
			debug.FreeOSMemory()
			releasePages()
			freed = true
		}
		before = now
	}
}
