// Package devicetaint deletes pods that do not tolerate the NoExecute taints of their devices (K
// pkg/controller/devicetainteviction: device-taint-eviction-controller). Taints are those of ResourceSlices, which
// drivers write, and of DeviceTaintRules, whose status has what is to be evicted.
//
// It guarantees:
//
//  1. Decisions depend on one state of the store and the time. What is remembered are the evictions that are scheduled,
//     one entry for each pod, and of each rule the number of pods evicted since the controller was started, when its
//     pods were counted last, and the generation that was seen last.
//  2. A pod is evicted if it has a node, and a ResourceClaim that is reserved for it has a device with such a taint. It
//     is deleted as soon as one taint is no longer tolerated: by the taint's timeAdded, and the shortest time of the
//     tolerations that match.
//  3. An eviction is cancelled, with an event, when no taint requires it any more.
//  4. The pod gets the condition DisruptionTarget before it is deleted. Disruption budgets are not asked.
//  5. The status of a rule is written when the rule is new or its spec changed, and at most every ten seconds then; its
//     pods are counted as seldom, too.
//  6. Without ResourceClaims in its namespace, an event of a pod causes no pass and decodes nothing.
//  7. A changed ResourceSlice causes passes over the pods with devices of its pool, a changed spec of a rule over those
//     of all claims. The status of a rule causes none.
//
// Unlike upstream's, the status of a rule is replaced by an update, not applied, and also changes when a pending pod is
// deleted by another client. When the controller starts, only that of rules with the effect NoExecute is written again.
// Claims of pod groups are ignored.
//
// To read the source: taint.go finds the taints of a claim, evict.go decides about pods, rule.go about rules.
package devicetaint
