// Package daemonset keeps a pod on each node that a DaemonSet selects (K pkg/controller/daemon).
//
// It guarantees:
//
//  1. Decisions are pure, except that the back-off of failed pods is remembered: one state of the store and the time
//     in, a plan out, sorted by node.
//  2. A pod is bound to its node by a node affinity of its own; the scheduler assigns it. There is one on each node, or
//     two during a surge.
//  3. During a rolling update at most maxUnavailable nodes are without an available pod, and at most maxSurge have two.
//  4. A failed pod is deleted, at first at once, then after a pause that doubles up to 15 minutes; a new one replaces
//     it.
//  5. Revisions that have pods are never deleted.
//  6. A set that is being deleted is ignored (I-16).
//
// To read the source: set.go reads the state, node.go decides which nodes are suitable, manage.go which pods are
// created and deleted, update.go how outdated ones are replaced, history.go has revisions, status.go the status.
package daemonset
