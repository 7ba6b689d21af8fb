// Package codec decodes and encodes objects: the bodies of requests in JSON, YAML and protobuf, and stored values.
//
// It guarantees:
//
//  1. The cost of decoding a body is checked before it is decoded: nesting, the number of values, YAML aliases, and
//     quantities.
//  2. Unknown and duplicate fields are reported as the option fieldValidation requests (B-71).
//  3. A stored value has the bytes that kube-apiserver would store in JSON.
//
// Its functions may be called from any goroutine and change nothing but their results.
package codec
