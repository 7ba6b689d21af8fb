// Package autoscaling has the kinds of the group autoscaling: HorizontalPodAutoscaler in v2 and v1, and the columns
// of Scale.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. Conversions between v1 and v2 are upstream's: fields that v1 lacks are in annotations. Hooks other than those for
//     defaults get v2.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/autoscaling/v2
package autoscaling

import "k8s.io/apimachinery/pkg/runtime"

// localSchemeBuilder is what the generated code registers itself with.
var localSchemeBuilder runtime.SchemeBuilder
