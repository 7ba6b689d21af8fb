// Package apps has the kinds of the group apps: the controllers of pods.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/apps/v1
package apps
