// Package discovery has the kinds of the group discovery.k8s.io: EndpointSlice.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/discovery/v1
package discovery

import "k8s.io/apimachinery/pkg/runtime"

// localSchemeBuilder is what the generated code registers itself with.
var localSchemeBuilder runtime.SchemeBuilder
