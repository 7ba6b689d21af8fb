// Package ephemeral creates the claims of pods' generic ephemeral volumes (K pkg/controller/volume/ephemeral:
// ephemeral-volume-controller).
//
// It guarantees:
//
//  1. It is pure: New is a value for package workload, which runs it.
//  2. A pod that isn't being deleted has for each such volume a claim <pod>-<volume>, which it controls, so that the
//     claim is deleted with it (I-10). A deleted claim is created again.
//  3. A claim of that name that the pod doesn't control is not changed; the pod gets an Event, and its own claim when
//     the other one is gone.
package ephemeral
