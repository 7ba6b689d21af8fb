// Package admissionregistration has the kinds of the group admissionregistration.k8s.io: webhook configurations and
// admission policies with their bindings.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/admissionregistration/v1
package admissionregistration
