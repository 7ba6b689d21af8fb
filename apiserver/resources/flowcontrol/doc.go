// Package flowcontrol has the kinds of the group flowcontrol.apiserver.k8s.io: FlowSchema and
// PriorityLevelConfiguration.
//
// It guarantees:
//
//  1. What package entry states for the packages of groups.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/flowcontrol/v1
package flowcontrol
