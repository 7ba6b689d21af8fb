// Package requestinfo has the properties of a request that filters determine: its user, and the contents of its path
// and query.
//
// It guarantees:
//
//  1. The path of a resource is parsed once, by RequestInfoFactory of k8s.io/apiserver. Authorization, flow control and
//     the endpoints use that one value: a request can not be served as anything else than it was authorized as.
//  2. Authorize returns a 403 with kube-apiserver's message.
package requestinfo
