// Package statefulset keeps pods with numbers and claims of their own, as StatefulSets want
// (K pkg/controller/statefulset).
//
// It guarantees:
//
//  1. What is decided is pure: one state of the store and the time in, a plan out, sorted.
//  2. Unless the set is Parallel, one pod at a time comes or goes: the next only when all that come before it
//     are available, upwards on the way up and downwards on the way down.
//  3. A pod is created only when its claims exist. Claims refer to the set, to their pod or to neither, as the
//     retention policy says, unless somebody else's reference is in the way (I-05).
//  4. Pods are of the revision that their number has a right to; outdated ones are replaced from the highest
//     number down to the partition, and no more of them are unavailable than the set allows.
//  5. Revisions that a pod is of, or that are current, are never thrown away.
//  6. A set that is being deleted only reports its status (I-16).
//  7. A pass costs what there are pods, and creates at most 500, however many the set wants.
//
// To read the source: set.go reads what is there, process.go goes through the numbers, update.go replaces
// outdated pods, claim.go is about claims, history.go about revisions, status.go about what is reported.
package statefulset
