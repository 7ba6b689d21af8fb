// Package node has the controllers of nodes and of the pods on them. Lifecycle keeps the taints of nodes equal to their
// conditions, so that nothing is scheduled on nodes with problems (K pkg/controller/nodelifecycle:
// doNoScheduleTaintingPass, monitorNodeHealth, doNoExecuteTaintingPass). Eviction deletes pods that do not tolerate the
// NoExecute taints of their node (K pkg/controller/tainteviction). OrphanedPods deletes pods that no kubelet will ever
// delete (podgc.go).
//
// It guarantees of Lifecycle:
//
//  1. It is pure: the nodes and the time in, a plan out.
//  2. Taints with keys of no condition are not changed. Of NoExecute taints, only not-ready and unreachable are
//     changed.
//  3. A node that has never reported whether it is ready keeps the taint that it was created with. (Upstream sets the
//     condition for it after a minute.)
//  4. A node that is not ready for five seconds gets its NoExecute taint. In each zone the nodes are tainted one by
//     one, ten seconds apart. The taints record the times, so a restart changes nothing.
//  5. If no node is ready, none has a NoExecute taint. If 55 % of a zone's nodes, and at least three, are not ready, no
//     further node of the zone is tainted; in a zone of more than 50 nodes, one is tainted every 100 seconds.
//  6. A pass over a ready node reads no other node.
//
// Unlike upstream's it doesn't notice that a node has stopped reporting, and does not set the conditions of its pods.
//
// And of Eviction:
//
//  1. Decisions are pure (one state of the store and the time in, a plan out), except that the controller records
//     scheduled evictions: at most one time for each pod. After a restart of the server each time begins again, as
//     upstream's.
//  2. A pod that tolerates each taint for a limited time is deleted after the shortest of these times. The time is
//     fixed when the pod is first seen with such taints; other limits have no effect on it later.
//  3. A scheduled eviction is cancelled when the taints are removed, when the pod tolerates all of them forever, and
//     when the pod is gone.
//  4. The pod gets the condition DisruptionTarget before it is deleted. Disruption budgets don't matter.
//  5. Events have no uid of their pod, like upstream's.
//  6. Without NoExecute taints there is no pass. An event of a pod costs a look-up of its node.
//
// Unlike upstream's, Eviction tries again until the pod is deleted, and does not delete a pod a second time.
package node
