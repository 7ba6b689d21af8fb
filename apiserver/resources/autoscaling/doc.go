// Package autoscaling has the kinds of the group autoscaling: HorizontalPodAutoscaler in v2 and v1, and the columns of
// Scale.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//  2. Conversions between v1 and v2 are upstream's: annotations have the fields that v1 lacks. Hooks receive v2, except
//     for the hooks that set defaults.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/autoscaling/v2
package autoscaling
