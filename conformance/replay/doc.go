// Package replay sends recorded requests to any Kubernetes API server, over HTTP only, and compares the responses with
// the recorded ones. The recordings are in conformance/recorded.
//
// It guarantees:
//
//  1. Every scenario runs in a new namespace, which is deleted afterwards, also when the run is interrupted. The
//     deletion is not awaited: the namespace stays Terminating if the scenario leaves finalizers. Scenarios run one
//     after the other, and their steps in order.
//  2. Values that differ from run to run are replaced by names before the comparison, in the order of their first
//     appearance; equal names mean equal values. Only the fields that a step lists as ignored are not compared.
//  3. A request without a complete response is a difference.
//  4. A scenario is repeated only as a whole, and the report says so.
//  5. A scenario with a user whose token is not known is skipped as a whole, and reported as skipped.
//  6. What a later minor version responds instead of a recorded value is a Change, of one value at one place. Responses
//     of servers of that version must equal it.
//  7. Objects, lists and differences that messages print are not compared, unless Options.PrintedValues is set. Codes,
//     reasons, causes with their fields and types, and the rest of each message are.
//  8. The comparison is pure: responses in, differences out. Only target.go sends requests.
package replay
