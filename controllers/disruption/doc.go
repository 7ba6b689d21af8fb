// Package disruption maintains the status of PodDisruptionBudgets, on which evictions depend, and resets the condition
// DisruptionTarget of pods that were not deleted after all (K pkg/controller/disruption: disruption-controller).
//
// It guarantees:
//
//  1. It is pure: Budgets and Pods are values for package workload, which runs them.
//  2. A pod that is being deleted, or was evicted in the last two minutes, does not count as healthy. If it still
//     exists after that time, it counts again.
//  3. If the number of expected pods can't be calculated, the budget allows no disruption, and its condition has the
//     reason.
//  4. A status is written only if it changes.
//  5. Without budgets, and without pods that have the condition, there is no pass. An event of a pod costs a look-up of
//     the budgets in its namespace.
//
// Unlike upstream's, a budget also has a pass when a pod that it selected changes its labels, and all budgets that
// select a pod count it at once. Like upstream's, it does not follow the scale of controllers: the next event of a pod
// causes a pass that reads it.
//
// To read the source: controller.go finds the budgets that an event affects, decide.go makes the new status, demand.go
// counts the expected pods, scale.go finds the scale of a pod's controller, pod.go resets conditions.
package disruption
