// Package replay sends recorded requests to any Kubernetes API server, over HTTP only, and compares the answers with
// the recorded ones. The recordings are in conformance/recorded.
//
// It guarantees:
//
//  1. Every scenario runs in a new namespace, which is deleted afterwards, also when the run is interrupted. It isn't
//     waited for, and stays Terminating if the scenario leaves finalizers. Scenarios run one after the other, and their
//     steps in their order.
//  2. Values that differ from run to run are named before the comparison, in the order in which they first appear in
//     the answers; equal names mean equal values. Only the fields that a step lists as ignored aren't compared.
//  3. A request that gets no complete answer differs from its recording; it is never left out.
//  4. A scenario is replayed again only as a whole, and the report says so.
//  5. A scenario with a user whose token isn't known is skipped as a whole, and reported as skipped.
//  6. The comparison is pure: answers in, differences out. Only target.go sends requests.
package replay
