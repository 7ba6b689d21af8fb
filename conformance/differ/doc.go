// Package differ sends the same random operations to two servers and tells where they differ.
//
// It guarantees:
//
//  1. Compared are the code and the body of each answer, the sequence of each object's watch events,
//     and the objects that are there when a cascade has come to its end. What must differ (uids,
//     resourceVersions, times, managedFields) is made equal first, in texts as well.
//  2. Operations are left out if the order in which a collector works could show: two servers of one implementation
//     give no difference. Compared with Kubernetes, what differences.md says of the collector shows, except a DELETE of
//     a collection during which the collector may act (model.Overlaps).
//  3. It goes on when both servers have shown all the events that the model expects, so that no operation is sent
//     into a cascade, or, where they haven't, when Settle has passed without making them equal or different: the
//     model never decides what is right. Now and then, and at the end, an object whose owner is absent shows
//     by its collection that a collector has seen what was before it; what it did besides shows, too.
//  4. A difference is reduced to a short list of operations, which comes as shell commands. Each list that is
//     believed to show it, the first one too, has shown a difference of the same kind twice in a row.
//  5. Clean deletes everything that was made, and names what is left.
package differ
