package pace

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// burst is how much may be allocated between two collections during a burst of work. The runtime would collect
	// whenever the heap has doubled, which is twenty times a second under writes with little stored data.
	burst = 64 << 20
	// burstEvery is the interval between two collections with the runtime's own pace below which there is a burst.
	burstEvery = 2 * time.Second
	// restPercent is the runtime's own GOGC.
	restPercent = 100
	// large is the live heap, in bytes, above which GOGC is less than 100: large bytes are allocated between two
	// collections, and above twice that size largePercent of the heap. With GOGC=100 the heap of 100,000 objects doubles
	// whenever a client lists many of them.
	large        = 128 << 20
	largePercent = 50
	// least is the live heap below which the runtime does not collect with its own pace.
	least = 4 << 20
)

// since is what has happened since the previous collection.
type since struct {
	time      time.Duration
	allocated uint64 // bytes
}

// percent is GOGC for a heap of so many live bytes. The rate of allocation decides, not the interval between two
// collections: that depends on the pace itself, and a server that allocates 32 MiB/s would change its pace with each
// collection, return memory to the system, and fault it in again.
func percent(live uint64, s since) int {
	live = max(live, least)
	if live > large {
		return max(largePercent, int(large*100/live))
	}
	if float64(s.allocated)*burstEvery.Seconds() < float64(live)*s.time.Seconds() {
		return restPercent
	}
	return max(restPercent, int(burst*100/live))
}

func init() {
	if os.Getenv("GOGC") == "" {
		begin()
		handle()
	}
}

// begin sets the pace of a burst, and after each collection that of what has happened since the previous one.
func begin() {
	now, last := percent(0, since{}), time.Now()
	debug.SetGCPercent(now)
	var await func()
	before := uint64(0)
	collected := func(struct{}) {
		heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(heap)
		allocated := heap[1].Value.Uint64()
		next := percent(heap[0].Value.Uint64(), since{time.Since(last), allocated - before})
		before = allocated
		last = time.Now()
		if next != now { // SetGCPercent stops the world for a moment
			now = next
			debug.SetGCPercent(next)
		}
		await()
	}
	// The next collection finalizes this unreachable object.
	await = func() { runtime.AddCleanup(&struct{ next *byte }{}, collected, struct{}{}) }
	await()
}
