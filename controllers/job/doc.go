// Package job runs pods to completion (K pkg/controller/job): it keeps as many pods of a Job active
// as it wants, counts those that finish exactly once, and says when the Job is complete or has
// failed.
//
// It guarantees:
//
//  1. Decide is pure: a Job, its pods, what is remembered of its failures and the time in, a Plan out.
//     The same values give the same Plan, in the same order.
//  2. A finished pod is counted once. Its UID is in status.uncountedTerminatedPods before its
//     finalizer goes, and it moves from there to the counters only when the finalizer is gone (F-13).
//  3. A Job is Complete or Failed only when no pod of it is uncounted, active or terminating; before
//     that it is SuccessCriteriaMet or FailureTarget. A finished Job is never judged again.
//  4. A Job that is being deleted gets no pods; those that it has are let go (I-16, F-14). A Job whose
//     spec.managedBy names another controller is left alone.
//  5. In one pass pods are created or removed, never both, at most 500 of them.
//
// To read the source: plan.go says what goes in and comes out, decide.go what is decided in which
// order, create.go and remove.go which pods come and go, track.go how they are counted.
package job
