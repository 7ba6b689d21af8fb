// Package deployment rolls out what a Deployment says by way of ReplicaSets
// (K pkg/controller/deployment: deployment-controller).
//
// It guarantees:
//
//  1. It is pure: New is a value for package workload, which runs it.
//  2. A ReplicaSet with the deployment's template, apart from the label pod-template-hash, is the newest; all
//     others that it controls are old. A template that was there before finds its old ReplicaSet again,
//     which is how kubectl rolls back. Otherwise one is made, called by the deployment's name and a hash
//     (I-06); if another has that name, the collision is counted and changes the hash.
//  3. While rolling, there are never more than replicas + maxSurge pods wanted, and old ones go only
//     as long as replicas - maxUnavailable are available. Recreate makes new pods when no old one is left.
//  4. Paused, and when only the size changes, all sizes change in proportion.
//  5. A pass takes one step and is followed by another, as each step is a write. Each ReplicaSet is written at
//     most once in a pass.
//  6. The conditions Available, Progressing and ReplicaFailure are upstream's, deadlines included: a rollout
//     that makes no progress is looked at again when its time is up.
//  7. A deployment that is being deleted does nothing but tell its status (I-16).
//
// controller.go says in which order things are done, state.go what is known, rolling.go, recreate.go and scale.go are
// the ways to change sizes; revision.go keeps numbers and annotations, status.go and condition.go what is told,
// history.go what is forgotten.
//
// What the deprecated rollback of extensions/v1beta1 asked for, by an annotation, isn't done.
package deployment
