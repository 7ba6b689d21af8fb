// Package fairshare divides what requests use of the server among users: memory, and seats of a priority level.
//
// It guarantees:
//
//  1. The units that one user has acquired and not released never exceed the share, and with a Budget those of all
//     users never exceed the total. So one user's requests can't keep everything from others'.
//  2. Acquire waits while its context lasts, that of a Budget for at most Patience.
//
// Shares and Budgets may be used from any goroutine; they have none.
package fairshare
