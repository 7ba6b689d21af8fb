// Package pod handles the requests for pods besides reads and writes: binding and eviction (K
// pkg/registry/core/pod/storage).
//
// It guarantees:
//
//  1. A binding is decided on the state of the pod that it changes. A pod is bound once.
//  2. An eviction is subtracted from its disruption budget before the pod is deleted. If the decision depends on the
//     state of the pod, the pod is deleted only in that state.
//  3. An evicted pod has the condition DisruptionTarget before it is deleted, unless the eviction is a dry run.
package pod
