// Package replay sends recorded requests to any Kubernetes API server, over HTTP only, and compares the responses with
// the recorded ones. The recordings are in conformance/recorded.
//
// It guarantees:
//
//  1. Every scenario runs in a new namespace. The run deletes the namespace afterwards, also when it is interrupted,
//     and does not wait until it is gone: the namespace stays Terminating if the scenario leaves finalizers. Scenarios
//     run one after the other, and their steps in order.
//  2. Before the comparison, values that differ from run to run are replaced by names, which are numbered by first
//     appearance. Equal names mean equal values. The comparison omits only the fields that a step lists as ignored.
//  3. A request without a complete response is a difference.
//  4. A scenario is repeated only as a whole, and the report says so.
//  5. A scenario with a user whose token is not known is skipped as a whole, and reported as skipped.
//  6. A Change is the value that a later minor version returns instead of one recorded value. Servers of that version
//     must return this value.
//  7. Objects, lists and differences in messages are compared only if Options.PrintedValues is set. Codes, reasons,
//     causes with their fields and types, and the rest of each message are always compared.
//  8. The comparison is pure: its arguments are responses, its results differences. Only target.go sends requests.
package replay
