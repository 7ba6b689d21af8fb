// Package simulation does for pods what a scheduler and kubelets would, without running anything: it assigns
// pods to nodes, lets them become Running and Ready, lets those of Jobs complete, and finishes deletions that
// are graceful. What kwok's default stages do is the model.
//
// It guarantees:
//
//  1. It is pure: Pods, Node and Off are values for package workload, which runs them.
//  2. There is always a node, NodeName, that is ready; every other Node object is simulated as well. A pod
//     is assigned to one that is schedulable, has the labels of its nodeSelector and no taint that the pod
//     doesn't tolerate; if its node affinity names one, to that. Taints of node.kubernetes.io, resources and
//     other affinities are ignored. Pods with scheduling gates, or with another scheduler, are left to others.
//  3. Each step takes Options.Delay: from assigned to Running and Ready, from Running to completion, from
//     the request to delete until the pod is gone, which is never later than its grace period.
//  4. Pods that a Job controls and that don't restart always succeed. An annotation asks for something else:
//     see Annotation.
//  5. A container has the resources that it asks for, after a resize too, and says so.
//  6. Where nothing is simulated, Off says of the nodes that were that they are not ready, as node-lifecycle-controller
//     does with nodes that have gone silent. Simulation takes that back. Pods on them are left as they are.
//  7. A pod's status is only ever written from what is stored, so a restart of the server loses nothing.
package simulation
