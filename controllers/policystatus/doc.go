// Package policystatus checks the types in the expressions of ValidatingAdmissionPolicies, and reports the warnings in
// their status (K pkg/controller/validatingadmissionpolicystatus: validatingadmissionpolicy-status-controller).
//
// It guarantees:
//
//  1. A policy whose generation is greater than its status.observedGeneration is checked once, by the types that are
//     served at that time. It is not checked again when a CustomResourceDefinition is created later (M-52, M-55).
//  2. The status is that of the generation that was checked. If the policy changes during the check, the status is not
//     written; the change is an event of its own.
//  3. One policy is checked at a time, and nothing is kept between checks: while there is no policy, nothing is built.
//  4. Nothing is polled: a pass follows an event, or a failure after a pause that doubles. Run returns when its context
//     is done, after the check in progress.
//
// The effect of a policy never depends on its status (M-54).
package policystatus
