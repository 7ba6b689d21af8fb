// Package render makes answers of stored objects: what the client accepts (negotiate.go), JSON, YAML and protobuf,
// lists, Tables (table.go) and metadata (partial.go), and what each takes of memory (cost.go).
//
// It guarantees:
//
//  1. What is stored in the form that a client accepts is sent as it is, without being decoded.
//  2. An object is converted once for an answer, whatever asks for it.
//  3. A form is chosen as Kubernetes chooses it: by the first clause of Accept, in the order of weights, that can be
//     served (0-16).
//  4. A cost is an upper bound of the memory that an answer takes, from the objects' bytes and their kind's type.
//
// A Rendering belongs to one request.
package render
