// Package daemonset keeps a pod on each node that a DaemonSet selects (K pkg/controller/daemon).
//
// It guarantees:
//
//  1. Decisions are pure (one state of the store and the time in, a plan out, sorted by node), except that the
//     controller records the back-off of failed pods.
//  2. Each pod has a node affinity for its node, by which the scheduler assigns it. There is one on each node, or two
//     during a surge.
//  3. During a rolling update at most maxUnavailable nodes are without an available pod, and at most maxSurge have two.
//  4. A failed pod is deleted, and a new one replaces it. The first deletion is immediate; the pause before later ones
//     doubles up to 15 minutes.
//  5. Revisions that have pods are never deleted.
//  6. A set that is being deleted is ignored (I-16).
//
// To read the source: set.go reads the state. node.go decides which nodes are suitable, manage.go which pods are
// created and deleted, update.go how outdated pods are replaced. history.go has the revisions, and status.go the
// status.
package daemonset
