// Package dra has the kinds of the group resource.k8s.io: the kinds of dynamic resource allocation.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//  2. Conversions between v1 and v1beta1 are upstream's.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/resource/v1
package dra
