// Package faults decides which requests fail, and how. A Plan is a list of rules. A rule has what it matches, which of
// these requests it selects, and one effect. A Set has the plans in force.
//
// It guarantees:
//
//  1. Plans are validated as a whole before they are in force. An error has the path of the wrong field.
//  2. Rules are tried in the order of the plans and their rules. The first one that selects a request decides.
//  3. Which requests a rule selects depends only on the number of requests that it has matched, and on its seed.
//  4. While no plan is in force, a request costs one load of a pointer.
//  5. A Set has at most MaxRules rules, and keeps the last Set.MaxFired faults.
//  6. It receives the time, starts no goroutine and does no I/O. A Set may be used from any goroutine.
//
// The API server executes the effects (apiserver/endpoints/fault.go, watchfault.go).
package faults
