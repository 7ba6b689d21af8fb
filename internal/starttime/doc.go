// Package starttime knows when this process began.
//
// It guarantees:
//
//  1. OfProcess never fails: where the system doesn't say it, or the clock was changed since, it is the time of the
//     call.
//  2. Differences to the time that it returns are right after changes of the clock: it has a monotonic clock reading.
package starttime
