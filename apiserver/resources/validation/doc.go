// Package validation judges objects of the built-in kinds, as Kubernetes v1.36 does with its default
// feature gates: what upstream keeps in pkg/apis/<group>/validation and in the ValidateUpdate of a
// kind's strategy.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock. Errors come in upstream's order, with upstream's paths,
//     types, values and texts, for clients see them all (0-06, 0-07).
//  2. Metadata is not judged here: names, labels, annotations, owners and finalizers are the generic
//     pipeline's, which reports them the number of times that upstream does.
//     Metadata of a template inside an object is judged here.
//  3. Nothing is changed in an object; it was defaulted before (package defaults) and its strategy
//     has prepared it (status dropped or kept).
//  4. No panic on any object, however odd; an object of another Go type has no errors.
//  5. Errors are bounded while they are collected, and the time doesn't grow with the square of a list's length.
//     The errors that an answer tells are upstream's, but for differences of more than 4,000 lines, which aren't shown.
//     Schemas of definitions are the exception: all of their errors are collected.
//
// Upstream validates internal types, so paths are those of the version that is closest to them:
// autoscaling/v2 for HorizontalPodAutoscaler, core v1 for Event. A caller that serves another version
// converts before it asks. Events of events.k8s.io/v1 have rules of their own and are taken as they
// are.
//
// What isn't checked is listed at the top of a kind's file. What needs the cluster (allocated
// addresses and ports, referenced objects) or an expression compiler (CEL) is nowhere checked.
package validation
