// Package reconcile is what controllers have in common: a loop that takes events in and runs passes when
// a schedule says so, the parts that schedules are made of, and following that goes on after failures.
//
// It guarantees:
//
//  1. A Loop's schedule is called by one goroutine only, with the time. It needs no locks.
//  2. At most Loop.Workers passes run at once, each in a goroutine that lives as long as the pass: a loop at
//     rest is one goroutine that waits, and one that follows.
//  3. Loop.Run returns when its context is done, after everything that it started has returned.
//  4. A Loop never loses an event: whoever tells one waits until it is taken.
//  5. Keys, a schedule by key, never has two passes over one key at once. An event on a key during a pass
//     over it is followed by another pass. A key that fails is tried again after a pause that doubles, which
//     an event overtakes, as in client-go's queues; no other key waits for it.
//  6. Waits are measured by the monotonic clock. When the wall clock is set, or the machine was suspended, what Keys
//     keeps waiting is looked at anew within a minute, as it may wait for a time of day.
//  7. Queue, Keys and Backoff are pure: they are told the time.
package reconcile
