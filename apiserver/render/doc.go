// Package render makes responses from stored objects: the format that the client accepts (negotiate.go), JSON, YAML and
// protobuf, lists, Tables (table.go, rows.go) and metadata (partial.go), and it estimates the memory of each (cost.go).
// It sends bodies, whole or in pieces (write.go, recorder.go), Status objects and Warning headers.
//
// It guarantees:
//
//  1. An object that is stored in the accepted format is sent without being decoded.
//  2. An object is converted once for a response.
//  3. A format is negotiated as in Kubernetes: of the clauses of Accept, in the order of their q-values, the first one
//     that can be served decides (0-16).
//  4. A cost is an upper bound of the memory of a response, computed from the sizes of the objects. The cache itself
//     counts the encodings that it keeps.
//  5. The protobuf encoding of an object in its stored version is cached, while there is space (cache.Cache.Encoded).
//     Lists and events contain it (binary.go). The bytes of a response do not depend on the cache.
//  6. Nothing is cached that depends on a user, a namespace, a selector or a time.
//  7. Error sends the Status of an error (package status), in a format that the client accepts.
//  8. Large responses are compressed for clients that accept gzip.
//  9. A response ends if its client takes too long to read a part of it (Recorder).
//  10. Errors of the server itself are logged, with at most 2 KiB of the client's input, unless the client has
//     disconnected.
//
// A Rendering is for one request.
package render
