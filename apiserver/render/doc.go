// Package render makes responses from stored objects: the format that the client accepts (negotiate.go), JSON, YAML and
// protobuf, lists, Tables (table.go, rows.go) and metadata (partial.go), and the memory of each (cost.go). It sends
// them: bodies, in one piece or as they are made (write.go, recorder.go), Status objects and Warning headers.
//
// It guarantees:
//
//  1. An object that is stored in the accepted format is sent as it is, without being decoded.
//  2. An object is converted once for a response.
//  3. A format is negotiated as in Kubernetes: by the first clause of Accept, in the order of q-values, that can be
//     served (0-16).
//  4. A cost is an upper bound of the memory that a response takes, by the objects' sizes and their kind's type.
//     Encodings that objects keep are the memory of their cache.
//  5. Protobuf of the stored version is made once for each version of an object, as long as there is space
//     (cache.Cache.Keep); lists and events join it (binary.go). The bytes of a response are the same whether they were
//     kept or made.
//  6. Nothing is kept that was made for a user, a namespace, a selector or a time.
//  7. Error sends the Status that package status makes of the error, in a format that the client accepts.
//  8. Large responses are compressed for clients that accept gzip.
//  9. A response ends if its client takes too long to read a part of it (Recorder).
//  10. Errors of the server itself are logged, with at most 2 KiB of the client's input, unless the client has gone
//     away.
//
// A Rendering belongs to one request.
package render
