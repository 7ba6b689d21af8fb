// Package requestinfo is what the filters know of a request: its user, and what its path and query name.
//
// It guarantees:
//
//  1. The path of a resource is parsed once, by RequestInfoFactory of k8s.io/apiserver. Authorization, flow control and
//     the endpoints use that one value: a request is served as what it was authorized as.
//  2. Authorize returns the 403 in kube-apiserver's words.
package requestinfo
