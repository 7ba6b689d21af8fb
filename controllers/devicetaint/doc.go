// Package devicetaint deletes pods that do not tolerate the NoExecute taints of their devices (K
// pkg/controller/devicetainteviction: device-taint-eviction-controller). Taints come from ResourceSlices, which drivers
// write, and from DeviceTaintRules, whose status has the numbers of evictions.
//
// It guarantees:
//
//  1. Decisions depend on one state of the store and the time. The controller records scheduled evictions, one for each
//     pod. For each rule it records the number of pods evicted since its start, the time of the last count, and the
//     last generation.
//  2. A pod is evicted if it has a node, and a ResourceClaim that is reserved for it has a device with such a taint. It
//     is deleted as soon as one taint is no longer tolerated: that is the taint's timeAdded plus the shortest time of
//     the matching tolerations.
//  3. An eviction is cancelled, with an event, when no taint requires it any more.
//  4. The pod gets the condition DisruptionTarget before it is deleted. Disruption budgets have no effect.
//  5. The status of a rule is written when the rule is new or its spec changes, and then at most every ten seconds. Its
//     pods are counted at the same times.
//  6. Without ResourceClaims in its namespace, an event of a pod causes no pass and decodes nothing.
//  7. A changed ResourceSlice causes passes over the pods with devices of its pool, a changed spec of a rule passes
//     over the pods of all claims. The status of a rule causes none.
//
// Unlike upstream's, the status of a rule is replaced by an update, not applied, and also changes when a pending pod is
// deleted by another client. When the controller starts, it writes only the status of rules with the effect NoExecute
// again. Claims of pod groups are ignored.
//
// To read the source: taint.go finds the taints of a claim, evict.go decides about pods, rule.go about rules.
package devicetaint
