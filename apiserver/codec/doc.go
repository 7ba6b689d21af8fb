// Package codec reads and writes objects: the bodies of requests, in JSON, YAML and protobuf, and the values that are
// stored.
//
// It guarantees:
//
//  1. What a body costs to decode is bounded before it is decoded: nesting, aliases of YAML, bytes that a document
//     stands for, quantities, and entries of managedFields.
//  2. Unknown and duplicate fields are told as field validation asks for it (B-71).
//  3. A stored value has the bytes that kube-apiserver would store in JSON.
//
// Its functions may be called from any goroutine and change nothing but what they return.
package codec
