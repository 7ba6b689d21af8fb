// Package statefulset keeps the pods of StatefulSets, which have ordinals and their own claims (K
// pkg/controller/statefulset).
//
// It guarantees:
//
//  1. Decisions are pure: one state of the store and the time in, a plan out, sorted.
//  2. Unless the set is Parallel, one pod at a time is created or deleted: in ascending order for creation, in
//     descending order for deletion, and only when all pods before it are available.
//  3. A pod is created only when its claims exist. Claims refer to the set, to their pod or to neither, by the
//     retention policy, unless a reference of another owner prevents that (I-05).
//  4. Pods have the revision of their ordinal; outdated ones are replaced from the highest ordinal down to the
//     partition, and no more of them are unavailable than the set allows.
//  5. Revisions that have pods, or that are current, are never deleted.
//  6. A set that is being deleted only reports its status (I-16).
//  7. The cost of a pass grows with the number of pods, and it creates at most 500, for any spec.replicas.
//
// To read the source: set.go reads the state, process.go creates and deletes pods by their ordinals, update.go replaces
// outdated pods, claim.go has the claims, history.go the revisions, status.go the status.
package statefulset
