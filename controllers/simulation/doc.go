// Package simulation simulates a scheduler and kubelets, without running anything: it assigns pods to nodes, sets them
// Running and Ready, completes those of Jobs, and finishes graceful deletions. It models kwok's default stages.
//
// It guarantees:
//
//  1. It is pure: Scheduler, Pods, Node and Off are values for package workload, which runs them.
//  2. There is always a ready node, NodeName; every other Node object is simulated as well. A pod is assigned to a
//     schedulable node that its nodeSelector and node affinity match, whose taints it tolerates, and whose allocatable
//     resources are not less than its requests; or to the one that its node affinity names. A pod that fits no node is
//     Unschedulable, with kube-scheduler's event. Taints of node.kubernetes.io on nodes that no client has set to not
//     ready, resources that the node doesn't declare, other pods' requests and affinities of pods are ignored. So are
//     pods with scheduling gates, or with another scheduler. A pod does not wait for the volumes of its claims; package
//     persistentvolume does a scheduler's part for these.
//  3. Each step takes Options.Delay: from assigned to Running and Ready, from Running to completion, from the request
//     to delete until the pod is gone, which is never later than its grace period.
//  4. Pods that a Job controls and that don't restart always succeed. An annotation selects another outcome: see
//     Annotation.
//  5. A container's status has the resources that it requests, also after a resize.
//  6. Without simulation, Off sets formerly simulated nodes to not ready, as node-lifecycle-controller does with nodes
//     that have stopped reporting. Simulation reverses that. The pods on them are not changed.
//  7. A pod's new status depends only on the stored state, so a restart of the server loses nothing.
package simulation
