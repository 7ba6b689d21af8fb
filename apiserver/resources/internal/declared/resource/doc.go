// Package resource validates the kinds of resource.k8s.io/v1 by the rules that the comments of their Go types declare.
// The server does not use it, as package declared says. Tests of the validation that is written by hand compare its
// errors with the ones of this package.
//
// It guarantees:
//
//  1. The errors are those of upstream's generated code: their order, and the level of the rule of each.
//  2. The objects are not changed.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/resource/v1
package resource

import "k8s.io/apimachinery/pkg/runtime"

// localSchemeBuilder is what the generated code registers itself with.
var localSchemeBuilder runtime.SchemeBuilder
