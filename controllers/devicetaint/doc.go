// Package devicetaint deletes pods that do not tolerate the NoExecute taints of their devices (K
// pkg/controller/devicetainteviction: device-taint-eviction-controller). Taints are those of ResourceSlices, which
// drivers write, and of DeviceTaintRules, whose status says what is to be evicted.
//
// It guarantees:
//
//  1. Decisions depend on one state of the store and the time. What is remembered are the evictions that are scheduled,
//     one entry for each pod, and the number of evicted pods of each rule since the controller was started.
//  2. A pod is evicted if it has a node, and a ResourceClaim that is reserved for it has a device with such a taint. It
//     is deleted as soon as one taint is no longer tolerated: by the taint's timeAdded, and the shortest time of the
//     tolerations that match.
//  3. An eviction is cancelled, with an event, when no taint requires it any more.
//  4. The pod gets the condition DisruptionTarget before it is deleted. Disruption budgets are not asked.
//  5. The status of a rule is written when the rule is new or its spec changed, and at most every ten seconds then.
//  6. Without ResourceClaims in its namespace, an event of a pod causes no pass and decodes nothing.
//
// Unlike upstream's, the status of a rule is replaced by an update, not applied, also changes when a pending pod is
// deleted by another client, and is not written anew when the controller starts. Claims of pod groups are ignored.
//
// To read the source: taint.go finds the taints of a claim, evict.go decides about pods, rule.go about rules.
package devicetaint
