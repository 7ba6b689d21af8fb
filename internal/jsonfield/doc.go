// Package jsonfield describes the JSON fields of a Go type: their names, and their position in the value. It is the
// only such table: managed fields, merge patches, quantities and memory estimates look up fields in it, and package
// openapi reads tags with it.
//
// It guarantees:
//
//  1. Names are those of encoding/json for the types of Kubernetes' API, whose embedded structs are all inlined. Rules
//     that don't apply to these types (two fields of one name, strings in quotes) are not modelled.
//  2. A field is omitted when structured-merge-diff omits it (value/jsontagutil.go), as managed fields are computed by
//     that: with omitempty an empty list, map, string or zero, never a struct; with omitzero a value whose IsZero says
//     so.
//  3. A type is described once, at its first use. Any number of goroutines may use a description, which must not be
//     changed.
package jsonfield
