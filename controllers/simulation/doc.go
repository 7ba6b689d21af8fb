// Package simulation simulates a scheduler and kubelets, without running anything: it assigns pods to nodes, sets them
// Running and Ready, completes those of Jobs, and finishes graceful deletions. It models kwok's default stages.
//
// It guarantees:
//
//  1. Scheduler, Pods, Node, Leases and Off are values for package workload, which runs them. All but Scheduler are
//     pure. Scheduler keeps an account of what pods request of each node, which is a function of the stored pods and
//     of those that it is assigning, so concurrent passes don't give away the same resources. It has one entry for each
//     pod on a node, and one for each pod that waits for others.
//  2. Without Options.Nodes there is always a ready node, NodeName. Every other Node object is simulated as well,
//     unless a client has set its condition Ready. A pod is assigned to a schedulable node that its nodeSelector and
//     node affinity match, whose taints it tolerates, whose ports it needs are free, and which has enough allocatable
//     resources left. Of these the choice depends only on the nodes and the pods on them. A pod that fits no node is
//     Unschedulable, with kube-scheduler's event, until a node or the end of another pod makes place. Taints of
//     node.kubernetes.io on simulated nodes that no client has set to not ready, resources that no node declares, and
//     affinities to pods are ignored. So are pods with scheduling gates, or with another scheduler. A pod does not wait
//     for the volumes of its claims; package persistentvolume does a scheduler's part for these.
//  3. Each step takes Options.Delay: from assigned to Running and Ready, from Running to completion, from the request
//     to delete until the pod is gone, which is never later than its grace period.
//  4. Pods that a Job controls and that don't restart always succeed. An annotation selects another outcome: see
//     Annotation.
//  5. The status of a running pod follows from its spec, its annotations, its readiness gates and its node's addresses,
//     also when these change. docs/simulation.md compares each field with a kubelet's.
//  6. Without simulation, Off sets formerly simulated nodes to not ready, as node-lifecycle-controller does with nodes
//     that have stopped reporting. Simulation reverses that. The pods on them are not changed.
//  7. A pod's new status depends only on the stored state, so a restart of the server loses nothing.
//  8. Kubelets' events about containers are recorded once for each start, crash and stop, after the status was written.
//     A node's Lease is written when it is ten seconds old; there are no other heartbeats.
package simulation
