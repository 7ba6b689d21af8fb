// Package simulation simulates a scheduler and kubelets, without running anything: it assigns pods to nodes, sets them
// Running and Ready, completes those of Jobs, and finishes graceful deletions. It models kwok's default stages.
//
// It guarantees:
//
//  1. Scheduler, Pods, Node, Leases and Off are values for package workload, which runs them. All but Scheduler are
//     pure. Scheduler keeps the parsed nodes, and an account of the resources that pods use on each. Both follow from
//     the stored objects and from the pods that are being assigned, so concurrent passes don't assign the same
//     resources twice. The account has one entry for each pod on a node, and one for each pod that waits.
//  2. Without Options.Nodes there is always a ready node, NodeName. Every other Node object is simulated as well,
//     unless a client has set its condition Ready. A pod is assigned to a node that all filters accept (filter.go). The
//     choice among these depends only on the nodes and the pods on them. A pod that fits no node is Unschedulable, with
//     kube-scheduler's event, until a change may help it. Ignored are: taints of node.kubernetes.io on simulated nodes
//     that no client has set to not ready; resources that no node declares; preferences of pods for nodes or other
//     pods; pods with scheduling gates or another scheduler.
//  3. A step takes Options.Delay: from assigned to Running and Ready, from the start of a container to its exit, from
//     the request to delete until the pod is gone, which is never later than its grace period.
//  4. Pods that a Job controls and that don't restart always succeed. Annotations select other outcomes, of pods and of
//     single containers: see Annotation.
//  5. The status of a pod that has started follows from its spec, its annotations, its readiness gates, its node's
//     addresses and the times in the status, also when these change. docs/simulation.md compares each field with a
//     kubelet's.
//  6. Without simulation, Off sets formerly simulated nodes to not ready, as node-lifecycle-controller does with nodes
//     that have stopped reporting. Simulation reverses that. The pods on them are not changed.
//  7. A pod's new status depends only on the stored state, so a restart of the server loses nothing.
//  8. Kubelets' events about containers are recorded once for each start, crash and stop, after the status was written.
//     A node's Lease is written when it is 30 seconds old; there are no other heartbeats.
//
// To read the source: schedule.go assigns pods. place.go parses nodes, claim.go counts the resources that pods use,
// filter.go, relation.go and spread.go reject nodes, choose.go chooses one. pod.go decides the steps of a pod on a
// node. ask.go parses annotations, container.go has the states of a container, sync.go those of its pod, status.go and
// report.go write the status and the events. node.go, lease.go and off.go maintain nodes, parse.go reads those of a
// file, usage.go is the source of metrics.
package simulation
