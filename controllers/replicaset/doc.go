// Package replicaset keeps the wanted number of pods of a ReplicaSet or a ReplicationController (K
// pkg/controller/replicaset: replicaset-controller, replicationcontroller-controller).
//
// It guarantees:
//
//  1. It is pure: New and NewReplication are values for package workload, which runs them.
//  2. Matching pods without a controller are adopted, and pods that no longer match are released (I-11). Only active
//     ones count (I-19). A set that is being deleted does not adopt, release, create or delete pods (I-16); it reports
//     its status.
//  3. A pass creates or deletes at most 500 pods. Surplus pods are deleted in upstream's order: those without a node,
//     pending ones, those that aren't ready, those with the lower deletion cost, those on nodes with more pods of the
//     same owner, those ready for less time, those with more restarts, those that are younger; times are compared by
//     their order of magnitude (K pkg/controller/controller_utils.go: ActivePodsWithRanks).
//  4. The status is written only if it changes. It has the condition ReplicaFailure while pods can't be created or
//     deleted. Between two passes over a set is 1 ms for each of its pods, at most half a second.
//
// set.go has the common code of the two kinds, decide.go the decisions, rank.go the order of deletion, status.go the
// status.
package replicaset
