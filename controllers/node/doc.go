// Package node keeps the taints of nodes equal to their conditions, so that no pod is scheduled on nodes with problems.
// It is the part of upstream's node lifecycle controller that DaemonSets depend on (K pkg/controller/nodelifecycle:
// doNoScheduleTaintingPass).
//
// It guarantees:
//
//  1. It is pure: a node and the time in, a plan out.
//  2. Taints with other effects, or with keys that stand for no condition, are not changed.
//  3. A node that has never reported whether it is ready keeps the taint that it was created with. (Upstream sets the
//     condition for it after a minute.)
//
// Unlike upstream's it doesn't notice that a node has stopped reporting, and evicts no pods.
package node
