// Package jsonfield says which fields JSON shows of a Go type, by what name, and where in the value they are. It is the
// only table of that kind: managed fields, merge patches, quantities and memory estimates look up fields in it, and
// package openapi reads tags by it.
//
// It guarantees:
//
//  1. Names are those of encoding/json for the types of Kubernetes' API, whose embedded structs are all inlined. Rules
//     for types that have none of these (two fields of one name, strings in quotes) are not modelled.
//  2. A field is omitted when structured-merge-diff omits it (value/jsontagutil.go), which is what managed fields are
//     made by: with omitempty an empty list, map, string or zero, never a struct; with omitzero what says so.
//  3. A type is described once, when it is first asked for. Descriptions may be used by any number of goroutines, and
//     are not to be changed.
package jsonfield
