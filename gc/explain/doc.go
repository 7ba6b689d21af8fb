// Package explain answers questions about the deletion of objects: why an object is still there (Why), what a deletion
// would do (Preview), what its owners and dependents are (Tree), and what is wrong with the ownership of a cluster
// (Lint). It is pure: the Cluster is a value, which package cluster reads, and its Index has the answers. It also
// prints what removed an object (TrailText), which package trail has recorded.
//
// It guarantees:
//
//  1. There is no second implementation of a rule: package finalizers decides the effect of a DELETE or an update, and
//     gc/graph the actions of the collector.
//  2. A preview carries out the deletions on a copy of the objects, and lets the collector, the controllers of
//     namespaces and of CRDs, and the kubelets work until nothing is left to do. It assumes that they all work, and
//     that expected finalizers are removed from objects that nothing uses. Other finalizers hold an object to the end.
//  3. Objects that aren't known are never taken for absent: references to a resource with Unknown stay undecided, and
//     warnings name it.
//  4. After one pass over all objects, an answer reads only objects that are connected with those of the question, by
//     owner references, namespaces and CRDs.
//  5. The same arguments give the same answers in the same order, and no argument is changed.
//  6. Webhooks and policies are named for the requests that they match (Hook.Matches). Conditions that aren't known
//     count as a match, so that no hook is missing. Their responses are not predicted.
//  7. The text, the JSON and the diagram of an answer are made from one value: the text of an answer that was decoded
//     from JSON is that of the original.
//  8. Trees and reasons have at most mostLevels levels, and the number of omitted ones.
//  9. Every remedy with an Action is one request. The last one of a finalizer is always its removal by hand.
package explain
