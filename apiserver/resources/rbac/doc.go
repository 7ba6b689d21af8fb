// Package rbac has the kinds of the group rbac.authorization.k8s.io: roles and their bindings.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/rbac/v1
package rbac
