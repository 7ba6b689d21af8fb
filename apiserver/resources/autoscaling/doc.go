// Package autoscaling has the kinds of the group autoscaling: HorizontalPodAutoscaler in v2 and v1, and the columns
// of Scale.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//  2. Conversions between v1 and v2 are upstream's: fields that v1 lacks are in annotations. Hooks other than those for
//     defaults get v2.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/autoscaling/v2
package autoscaling
