package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// startRest is how long after its start the process is looked at for the first time.
	startRest = time.Second
	// restEvery is how often the process looks whether it rests.
	restEvery = 10 * time.Second
	// restBytes is how much may be allocated between two looks by a process that rests.
	restBytes = 16 << 20
	// spareBytes is how much unused memory is worth a collection.
	spareBytes = 16 << 20
)

// memory is what a look finds, in bytes: what was ever allocated, and what the process holds of the
// system's that no object needs.
type memory struct{ allocated, unused uint64 }

// look reads the runtime's figures.
func look() memory {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	garbage := s[3].Value.Uint64() - min(s[3].Value.Uint64(), s[4].Value.Uint64())
	return memory{allocated: s[0].Value.Uint64(), unused: s[1].Value.Uint64() + s[2].Value.Uint64() + garbage}
}

// spare reports whether it is time to hand memory back: the process rests after work that took much.
func spare(before, now memory) bool {
	return now.allocated-before.allocated < restBytes && now.unused > spareBytes
}

// settle hands memory back to the system that a burst of work has left, which the runtime itself keeps for
// minutes in case that there is more to do. The first burst is the start, which leaves little, but more than half of
// the heap of a server that has nothing to do. It returns when ctx is done.
func settle(ctx context.Context) {
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
		case !freed && spare(before, now): // once after each burst: what is unused then is of use
			debug.FreeOSMemory()
			releasePages()
			freed = true
		}
		before = now
	}
}
