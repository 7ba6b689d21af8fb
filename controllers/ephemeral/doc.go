// Package ephemeral makes the claims of pods' generic ephemeral volumes (K pkg/controller/volume/ephemeral:
// ephemeral-volume-controller).
//
// It guarantees:
//
//  1. It is pure: New is a value for package workload, which runs it.
//  2. A pod that isn't being deleted has for each such volume a claim <pod>-<volume>, which it controls, so that
//     the claim goes with it (I-10). One that is deleted is made again.
//  3. A claim of that name that is not the pod's stays as it is; the pod is told, and has its own when that
//     claim has gone.
package ephemeral
