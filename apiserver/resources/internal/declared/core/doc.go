// Package core validates the types of core/v1 that kinds of other groups contain, by the rules that their comments
// declare.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code: their order, and the level of the rule of each.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithSuffix=NodeSelector
// +k8s:validation-gen-input=k8s.io/api/core/v1
package core
