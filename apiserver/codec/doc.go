// Package codec decodes and encodes objects: the bodies of requests in JSON, YAML and protobuf, and stored values. It
// applies JSON patches, merge patches and strategic merge patches. Package fieldmanager does server-side apply.
//
// It guarantees:
//
//  1. The cost of decoding is checked before a body is decoded: nesting, the number of values, YAML aliases, and
//     quantities.
//  2. Unknown and duplicate fields are reported as the option fieldValidation requests (B-71).
//  3. A stored value has the bytes that kube-apiserver would store in JSON.
//  4. A patch does not modify the object to which it is applied. The result is a new object.
//  5. The cost of a patch is checked before it is applied: its operations, the list items that they move, the bytes
//     that they copy, and the lists that a strategic merge compares.
//  6. Field validation of the patch and of the patched object results in an error, in warnings or in nothing, as the
//     option fieldValidation requests.
//  7. Errors of patches are Kubernetes' errors, with their Status (B-50 to B-71).
//
// Its functions may be called from any goroutine.
package codec
