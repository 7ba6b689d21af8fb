// Package podgc deletes pods that no kubelet will ever delete (K pkg/controller/podgc): those of nodes that are gone,
// those that are being deleted on nodes that are out of service, and those that are being deleted without ever having
// had a node.
//
// It guarantees:
//
//  1. Decisions are pure, except that missing nodes are remembered: one state of the store and the time in, a plan out.
//  2. A pod is Failed before it is deleted, unless it has finished, so that controllers count it.
//  3. Pods are deleted when their node was gone for 40 seconds. Nothing is polled.
//  4. Finalizers of pods are left to their owners.
//
// Unlike upstream's it doesn't delete finished pods when there are too many of them (--terminated-pod-gc-threshold).
package podgc
