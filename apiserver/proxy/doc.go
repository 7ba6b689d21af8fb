// Package proxy forwards requests to kubelets and into the cluster's network.
//
// It guarantees:
//
//  1. Bodies are streamed in both directions. Memory does not depend on their size, except for HTML pages of at most
//     8 MiB, in which k8s.io/apimachinery rewrites links.
//  2. A connection ends when the context of its request ends, even after the client has upgraded it.
//  3. Redirects are not followed. They are an error for logs and upgraded connections. Forward passes them to the
//     client.
//  4. The server's credentials are for kubelets only.
//  5. Public rejects hosts with an address that is not global, before anything is sent.
//
// For kubelets that do not support WebSockets of exec, attach and portforward, these are translated to SPDY (K
// pkg/registry/core/pod/rest/subresources.go). The translators are our own, because the package of k8s.io/apiserver
// (pkg/util/proxy) imports informers and a clientset.
package proxy
