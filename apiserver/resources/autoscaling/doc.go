// Package autoscaling has the kinds of the group autoscaling: HorizontalPodAutoscaler in v2 and v1, and the columns
// of Scale.
//
// It guarantees:
//
//  1. One kind has one file, or several that begin with its name: its entry, its defaults, what writes may change, its
//     validation, its warnings and its printed columns. What several kinds of the group share stands beside them.
//  2. Resources lists the kinds, one line each.
//  3. The hooks keep what package entry says of them.
//  4. Conversions between v1 and v2 are upstream's: what v1 has no field for travels in annotations. Hooks other than
//     those for defaults see v2.
package autoscaling
