// Package node keeps the taints of nodes equal to their conditions: nothing is scheduled on nodes with problems, and
// the pods of nodes that are not ready are evicted by taint-eviction-controller (K pkg/controller/nodelifecycle:
// doNoScheduleTaintingPass, monitorNodeHealth, doNoExecuteTaintingPass).
//
// It guarantees:
//
//  1. It is pure: the nodes and the time in, a plan out.
//  2. Taints with keys that stand for no condition are not changed. Of NoExecute taints, only not-ready and unreachable
//     are.
//  3. A node that has never reported whether it is ready keeps the taint that it was created with. (Upstream sets the
//     condition for it after a minute.)
//  4. A node that is not ready for five seconds gets its NoExecute taint. In each zone the nodes are tainted one by
//     one, ten seconds apart; the times are those in the taints, so a restart changes nothing.
//  5. If no node is ready, none has a NoExecute taint. If most of a zone, and at least three nodes, are not ready, no
//     further node of it is tainted; in a zone of more than 50 nodes they follow 100 seconds apart.
//  6. A pass over a ready node reads no other node.
//
// Unlike upstream's it doesn't notice that a node has stopped reporting, and does not set the conditions of its pods.
package node
