// Package differ sends the same random operations to two servers and reports where they differ.
//
// It guarantees:
//
//  1. It compares the code and the body of each response, the sequence of each object's watch events, and the objects
//     that exist at the end of a cascade. Values that must differ (UIDs, resourceVersions, times, managedFields) are
//     normalized first, also in messages.
//  2. Operations whose results depend on the order of a collector's work are omitted: two servers of one implementation
//     have no difference. A comparison with Kubernetes shows the collector's differences that differences.md lists,
//     except a DELETE of a collection during which the collector may act (model.Overlaps).
//  3. The next operation is sent when both servers have sent all the events that the model expects, so no operation is
//     sent into a cascade, or when Settle has passed: the model never decides which result is correct. From time to
//     time, and at the end, an object with an absent owner is created. Its collection shows that a collector has
//     processed all earlier events.
//  4. A difference is reduced to a short list of operations, which is printed as shell commands. Each list that is
//     assumed to show it, including the first one, has shown a difference of the same kind twice in a row.
//  5. Clean deletes everything that was created, and reports objects that remain.
package differ
