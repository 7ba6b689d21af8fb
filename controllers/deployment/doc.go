// Package deployment rolls out Deployments with ReplicaSets (K pkg/controller/deployment: deployment-controller).
//
// It guarantees:
//
//  1. It is pure: New is a value for package workload, which runs it.
//  2. The ReplicaSet with the deployment's template, apart from the label pod-template-hash, is the newest; all others
//     that the deployment controls are old. If the deployment gets an earlier template again, as from a rollback with
//     kubectl, its old ReplicaSet becomes the newest. Otherwise a ReplicaSet is created, named by the deployment's name
//     and a hash (I-06); if the name is in use, the collision is counted and changes the hash.
//  3. During a rolling update at most replicas + maxSurge pods are wanted, and old ones are only deleted while replicas
//     - maxUnavailable are available. Recreate creates new pods when no old one is left.
//  4. If the deployment is paused, or only its size changes, all sizes change in proportion.
//  5. A pass takes one step; the next one follows at once, as each step is a write. Each ReplicaSet is written at most
//     once in a pass.
//  6. The conditions Available, Progressing and ReplicaFailure are upstream's, including deadlines: a rollout without
//     progress gets a pass at its deadline.
//  7. A deployment that is being deleted only reports its status (I-16).
//
// controller.go has the order of steps, and state.go their input. rollout.go and scale.go change sizes. revision.go has
// revisions and annotations, status.go and condition.go the status.
//
// The deprecated rollback of extensions/v1beta1, by an annotation, is not supported.
package deployment
