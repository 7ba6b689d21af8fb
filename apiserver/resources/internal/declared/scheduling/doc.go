// Package scheduling validates the types of scheduling.k8s.io/v1alpha3 that Jobs contain, by the rules that their
// comments declare.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code, in its order. Each error has the level of its rule.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithSuffix=WorkloadPodGroupResourceClaim
// +k8s:validation-gen-scheme-registry=nil
// +k8s:validation-gen-input=k8s.io/api/scheduling/v1alpha3
package scheduling
