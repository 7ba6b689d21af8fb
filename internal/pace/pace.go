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
	// burstEvery is the interval between two collections below which there is a burst.
	burstEvery = 2 * time.Second
	// restPercent is the runtime's own GOGC.
	restPercent = 100
	// least is the live heap below which the runtime does not collect with its own pace.
	least = 4 << 20
)

// percent is GOGC for a heap of so many live bytes, so long after the previous collection.
func percent(live uint64, since time.Duration) int {
	if since > burstEvery {
		return restPercent
	}
	return max(restPercent, int(burst*100/max(live, least)))
}

func init() {
	if os.Getenv("GOGC") == "" {
		begin()
	}
}

// begin sets the pace of a burst, and after each collection that of what has happened since the previous one.
func begin() {
	now, last := percent(0, 0), time.Now()
	debug.SetGCPercent(now)
	var await func()
	collected := func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := percent(live[0].Value.Uint64(), time.Since(last))
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
