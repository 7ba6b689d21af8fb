// Package live judges requests by the roles and bindings in a cache.
//
// It guarantees:
//
//  1. A decision is by a state of roles and bindings that is no older than the cache's at the moment of
//     the question. There is no goroutine, and nothing to be waited for but others' bringing the
//     policy up to date.
//  2. The policy is changed event by event. It is made anew only at first, and when more events were
//     missed than the cache keeps.
//  3. A role or binding that can't be read grants nothing.
//  4. As long as the cache isn't ready, nobody is granted anything.
package live
