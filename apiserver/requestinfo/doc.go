// Package requestinfo has the properties of a request that filters determine: its user, its path and its query.
//
// It guarantees:
//
//  1. The path of a resource is parsed once, by RequestInfoFactory of k8s.io/apiserver. Authorization, flow control and
//     the endpoints use the same result, so a request can't be served as something that was not authorized.
//  2. Authorize returns a 403 with kube-apiserver's message.
package requestinfo
