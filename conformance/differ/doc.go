// Package differ sends the same random operations to two servers and reports where they differ.
//
// It guarantees:
//
//  1. It compares the code and the body of each response, the sequence of each object's watch events, and the objects
//     that exist at the end of a cascade. Values that must differ (UIDs, resourceVersions, times, managedFields) are
//     normalized first, also in messages.
//  2. It omits operations whose results depend on the order of a collector's work, so two servers of one implementation
//     have no difference. A comparison with Kubernetes shows the differences of the collector in differences.md. It
//     does not show differences of a DELETE of a collection during which the collector may have steps (model.Overlaps).
//  3. It sends the next operation when both servers have sent all events that the model expects, or when Settle has
//     passed. So it sends no operation during a cascade, and the model never decides which result is correct. From time
//     to time, and at the end, it creates an object with an absent owner. When this object is collected, a collector
//     has processed all earlier events.
//  4. It reduces a difference to a short list of operations, and prints the list as shell commands. Each list that it
//     accepts, including the first one, has shown a difference of the same kind twice in a row.
//  5. Clean deletes everything that was created, and reports objects that remain.
package differ
