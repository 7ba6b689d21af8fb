// Package requestinfo is what is known of a request before it is routed: its user, and what its path and query name.
//
// It guarantees:
//
//  1. A request is parsed once, by RequestInfoFactory of k8s.io/apiserver. Authorization, flow control and routing use
//     that one value: a request is served as what it was authorized as.
//  2. Resolve names a served resource, or returns a 404; it never ignores an empty segment of a path.
//  3. Authorize returns the 403 in kube-apiserver's words.
package requestinfo
