package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// burstRoom is how much may be allocated between two collections while the process works hard. The
	// runtime would collect whenever the heap has doubled, which is twenty times a second under writes where
	// little is stored.
	burstRoom = 64 << 20
	// burstEvery is the pause between two collections below which that is the case.
	burstEvery = 2 * time.Second
	// restPercent is the runtime's own GOGC.
	restPercent = 100
)

// percent is GOGC for a heap of so many live bytes, so long after the collection before this one.
func percent(live uint64, since time.Duration) int {
	if since > burstEvery {
		return restPercent
	}
	return max(restPercent, int(burstRoom*100/max(live, 1<<20)))
}

// pace lets more garbage gather between collections during bursts of work, until ctx is done; settle hands
// the memory back afterwards. Somebody who sets GOGC has chosen.
func pace(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	now, last := restPercent, time.Now()
	var await func()
	collected := func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := percent(live[0].Value.Uint64(), time.Since(last))
		last = time.Now()
		if ctx.Err() != nil {
			next = restPercent
		}
		if next != now { // it stops the world for a moment
			now = next
			debug.SetGCPercent(next)
		}
		if ctx.Err() == nil {
			await()
		}
	}
	// An object that nobody holds is missed by the next collection.
	await = func() { runtime.AddCleanup(&struct{ next *byte }{}, collected, struct{}{}) }
	await()
}
