// Package tainteviction deletes pods that do not tolerate the NoExecute taints of their node (K
// pkg/controller/tainteviction: taint-eviction-controller).
//
// It guarantees:
//
//  1. Decisions are pure, except that scheduled evictions are remembered: one state of the store and the time in, a
//     plan out. What is remembered is at most one time for each pod. After a restart of the server each time begins
//     again, as upstream's do.
//  2. A pod that tolerates each taint for a limited time is deleted when the shortest time of the tolerations used is
//     over. The time is fixed when the pod is first seen with such taints; other limits have no effect on it later.
//  3. A scheduled eviction is cancelled when the taints are removed, when the pod tolerates all of them forever, and
//     when the pod is gone.
//  4. The pod gets the condition DisruptionTarget before it is deleted. Disruption budgets are not asked.
//  5. Events have no uid of their pod, like upstream's.
//  6. Without NoExecute taints there is no pass. An event of a pod costs a look-up of its node.
//
// Unlike upstream's, it tries again until the pod is deleted, and leaves a pod alone that it has deleted before.
package tainteviction
