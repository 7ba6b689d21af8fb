// Package reconcile has the common parts of controllers: a loop that runs passes over keys, and a watch that is
// restarted after failures.
//
// It guarantees:
//
//  1. One goroutine calls a Loop's Keys, which need no locks.
//  2. At most Loop.Workers passes run at a time, each in a goroutine of its own: an idle loop is one goroutine that
//     waits, and one that watches.
//  3. Loop.Run returns when its context is done, after everything that it started has returned.
//  4. A Loop never loses an event: the sender of an event waits until the Loop receives it.
//  5. Keys never has two passes over one key at a time. An event for a key during a pass over it is
//     followed by another pass. A key that fails is retried after a pause that doubles. As in client-go's queues, an
//     event ends the pause; no other key waits for it.
//  6. Pauses are measured by the monotonic clock. When the wall clock is set, or the machine was suspended, all waiting
//     keys get a pass within a minute, as they may wait for a time of day.
//  7. Controllers with a Monitor in their context have its Clock. When the clock is advanced, keys that have become
//     due, or that wait for a time of day, get a pass at once.
//  8. With a Monitor in its context a Loop reports when it is idle: all events were observed, and no pass is due Soon.
//     Idle and then Quiet prove that there was a moment at which all parts were idle: no part was active in between.
//     Passes that are due later are in a list of limited length, with their reasons.
//  9. Queue, Keys and Backoff are pure: the time is an argument.
package reconcile
