// Package flowcontrol has the kinds of the group flowcontrol.apiserver.k8s.io: FlowSchema and
// PriorityLevelConfiguration.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/flowcontrol/v1
package flowcontrol
