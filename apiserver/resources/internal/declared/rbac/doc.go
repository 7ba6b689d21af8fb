// Package rbac validates the kinds of rbac.authorization.k8s.io/v1 by the rules that the comments of their Go types
// declare.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code: their order, and the level of the rule of each.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/rbac/v1
package rbac

import "k8s.io/apimachinery/pkg/runtime"

// localSchemeBuilder is what the generated code registers itself with.
var localSchemeBuilder runtime.SchemeBuilder
