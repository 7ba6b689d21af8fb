// Package pod carries out what clients may do with pods beyond reading and writing them: bind them to a node, and evict
// them (K pkg/registry/core/pod/storage).
//
// It guarantees:
//
//  1. A binding is decided on the state of the pod that it changes. A pod is bound once.
//  2. An eviction that a disruption budget allows is charged to it before the pod is deleted. Where the decision depends
//     on the state of the pod, the pod is deleted only in that state.
package pod
