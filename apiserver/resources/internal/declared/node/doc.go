// Package node validates the kinds of node/v1 by the rules that the comments of their Go types declare.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code, in its order. Each error has the level of its rule.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/node/v1
package node
