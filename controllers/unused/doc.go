// Package unused maintains the condition Unused of PersistentVolumeClaims, which says since when no pod has referred to
// a claim (V-083; K pkg/controller/volume/pvcprotection: persistentvolumeclaim-protection-controller, with the gate
// PersistentVolumeClaimUnusedSinceTime).
//
// It guarantees:
//
//  1. Only claims that are bound and not being deleted get the condition. It is True while no pod that has not finished
//     refers to the claim. Pods without a node count. lastTransitionTime changes with the status only.
//  2. The condition is written only over the state on which the decision was made: if the claim has changed since, the
//     decision is made again. Other conditions are kept, in their order.
//  3. A pass over a claim follows each change of it, and each change of the pods that refer to it. Nothing is polled,
//     and a pass costs one read of the claim: the references of pods are indexed as their events arrive.
//  4. No pass begins before all pods are known. Only pods with claims are remembered, and of each only its references.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// condition.go has the decision, index.go which pods refer to which claims, and both are pure; controller.go follows
// changes and runs passes.
package unused
