// Package node keeps the taints of nodes as their conditions are, so that nothing is scheduled on those in trouble. It
// is the part of upstream's node lifecycle controller that DaemonSets depend on
// (K pkg/controller/nodelifecycle: doNoScheduleTaintingPass).
//
// It guarantees:
//
//  1. It is pure: a node and the time in, a plan out.
//  2. Taints with other effects, or with keys that stand for no condition, are left as they are.
//  3. A node that has never said whether it is ready keeps the taint that it was born with. (Upstream says so for it,
//     after a minute.)
//
// Unlike upstream's it doesn't notice that a node has gone silent, and evicts nobody.
package node
