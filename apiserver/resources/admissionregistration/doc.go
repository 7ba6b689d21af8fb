// Package admissionregistration has the kinds of the group admissionregistration.k8s.io: webhook configurations and
// admission policies with their bindings.
//
// It guarantees:
//
//  1. What package entry states for the packages of groups.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/admissionregistration/v1
package admissionregistration
