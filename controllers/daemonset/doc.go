// Package daemonset keeps a pod on each node that a DaemonSet wants one on (K pkg/controller/daemon).
//
// It guarantees:
//
//  1. What is decided is pure but for the back-off of failed pods, which is remembered: one state of the store
//     and the time in, a plan out, sorted by node.
//  2. A pod is bound to its node by a node affinity of its own; the scheduler assigns it. There is one on each
//     node, or two for as long as a surge lasts.
//  3. During a rolling update no more nodes are without an available pod than maxUnavailable, and no more have
//     two than maxSurge.
//  4. A pod that failed is deleted, at first at once, then after a pause that doubles up to 15 minutes; a new one
//     takes its place.
//  5. Revisions that a pod is of are never thrown away.
//  6. A set that is being deleted is left alone (I-16).
//
// To read the source: set.go reads what is there, node.go says which nodes are fit, manage.go which pods come and
// go, update.go how outdated ones are replaced, history.go is about revisions, status.go about what is reported.
package daemonset
