// Package autoscale scales workloads by the usage of their pods, as horizontal-pod-autoscaler-controller does (K
// pkg/controller/podautoscaler: horizontal.go, replica_calculator.go). Metrics of resources come from a function that
// measures pods or from metrics.k8s.io, others from custom.metrics.k8s.io and external.metrics.k8s.io.
//
// It guarantees:
//
//  1. The function decide is pure: an autoscaler, the scale of its target, the pods, the metrics, the record of earlier
//     passes and the time in; a new status, events, a new size and a new record out. Package workload runs passes.
//  2. An autoscaler has a pass when it is created or its spec changes, and every Options.SyncPeriod. A change of its
//     status causes none, as in upstream since v1.37 (V-088).
//  3. A rescale requires the scale that the decision is based on, and a status the state of the autoscaler.
//  4. The record (recommendations, changes of size, selectors) is bounded by the stabilization windows and the periods
//     of policies, and dropped with the autoscaler. It is empty at the start of the process, as upstream's.
//
// To read the source: controller.go is a pass, read.go reads metrics, decide.go is the order of a decision, metric.go
// computes one metric, replicas.go has the arithmetic, behavior.go the limits.
package autoscale
