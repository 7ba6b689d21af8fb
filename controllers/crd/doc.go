// Package crd keeps the status of CustomResourceDefinitions (CRDs), and deletes the objects of CRDs that are
// being deleted (AX pkg/controller/status, establish, nonstructuralschema, finalizer). In a cluster this is a part of
// the API server, so it always runs here.
//
// It guarantees:
//
//  1. Names that are unique in the group are accepted and the CRD is established in one write. A name that becomes free
//     is accepted for a CRD that waits for it.
//  2. Objects of a CRD that is being deleted are deleted as by any client, with regard to their finalizers; the CRD's
//     finalizer is removed when no object is left (F-09, F-10). An error in this is in the status until it is over.
//  3. Nothing is polled: a pass follows an event, or a failure after a pause that grows to a minute. Events shorten
//     that pause to no less than a fifth of a second.
//  4. Passes run one after the other, so two CRDs can't get the same name. Run returns when its context is done, after
//     everything that it started has returned.
package crd
