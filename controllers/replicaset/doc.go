// Package replicaset keeps as many pods as a ReplicaSet or a ReplicationController wants
// (K pkg/controller/replicaset: replicaset-controller, replicationcontroller-controller).
//
// It guarantees:
//
//  1. It is pure: New and NewReplication are values for package workload, which runs them.
//  2. Pods that match and have no controller are adopted, those that no longer match are released (I-11).
//     Only active ones count (I-19). One that is being deleted does neither, nor does it create or delete
//     pods (I-16); it reports its status.
//  3. A pass creates or deletes at most 500 pods. Which go first when there are too many is upstream's
//     order: those without a node, pending ones, those that aren't ready, those with the lower deletion
//     cost, those on nodes with more pods of the same owner, those ready for less time, those with more
//     restarts, those that are younger; times are compared by their order of magnitude
//     (K pkg/controller/controller_utils.go: ActivePodsWithRanks).
//  4. The status is written only if it changes. It says ReplicaFailure while pods can't be created or
//     deleted.
//
// set.go is what the two kinds have in common, decide.go what is to be done, rank.go the order of deletion,
// status.go the status.
package replicaset
