// Package job runs pods to completion (K pkg/controller/job): it keeps the wanted number of a Job's pods active, counts
// finished pods exactly once, and reports when the Job is complete or has failed.
//
// It guarantees:
//
//  1. Decide is pure: it computes a Plan from a Job, its pods, the record of its failures and the time. The same values
//     give the same Plan, in the same order.
//  2. A finished pod is counted once. Its UID is added to status.uncountedTerminatedPods before its finalizer is
//     removed. It moves from there to the counters only when the finalizer is gone (F-13).
//  3. A Job is Complete or Failed only when none of its pods is uncounted, active or terminating; before that it is
//     SuccessCriteriaMet or FailureTarget. A finished Job stays as it is.
//  4. A Job that is being deleted gets no pods; its finalizer is removed from existing ones (I-16, F-14). A Job whose
//     spec.managedBy names another controller is ignored.
//  5. In one pass pods are created or deleted, never both, at most 500 of them.
//
// To read the source: plan.go has the input and output, decide.go the order of decisions. create.go and manage.go
// decide which pods are created and deleted, track.go how they are counted.
package job
