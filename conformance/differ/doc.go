// Package differ sends the same random operations to two servers and tells where they differ.
//
// It guarantees:
//
//  1. Compared are the code and the body of each answer, the sequence of each object's watch events,
//     and the objects that are there when a cascade has come to its end. What must differ (uids,
//     resourceVersions, times, managedFields) is made equal first, in texts as well.
//  2. Operations are left out if the order in which a collector works could show: two servers that
//     are right give no difference.
//  3. It goes on when both servers are where the model expects them, or, where they aren't, when
//     Settle has passed without making them equal or different: the model never decides what is right.
//  4. A difference is reduced to a short list of operations, which comes as shell commands.
package differ
