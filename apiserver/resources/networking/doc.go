// Package networking has the kinds of the group networking.k8s.io: ingresses, network policies and the addresses of
// services.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/networking/v1
package networking
