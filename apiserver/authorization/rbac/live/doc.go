// Package live authorizes requests by the roles and bindings in a cache.
//
// It guarantees:
//
//  1. A decision is based on a state of roles and bindings that is not older than the cache's at the time of the call.
//     There is no goroutine. A call waits only while another one updates the policy.
//  2. The policy is updated by events. It is rebuilt only at first, and after more events than the cache keeps were
//     missed.
//  3. A role or binding that can't be decoded grants nothing.
//  4. Before the cache is ready, nothing is granted.
package live
