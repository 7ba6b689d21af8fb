// Package proxy forwards requests to kubelets and into the cluster's network.
//
// It guarantees:
//
//  1. Bodies are streamed in both directions. Memory does not depend on their size, except for pages in HTML of at most
//     8 MiB, whose links k8s.io/apimachinery rewrites.
//  2. A connection ends when the context of its request ends, even after the client has upgraded it.
//  3. Redirects are not followed. The log and upgraded connections reject them; Forward hands them to the client.
//  4. The server's credentials are for kubelets only.
//  5. Public rejects hosts that have an address that is not global, before anything is sent.
//
// WebSockets of exec, attach and portforward are translated to SPDY for kubelets that do not understand them
// (K pkg/registry/core/pod/rest/subresources.go). The translators are our own, as those of k8s.io/apiserver
// (pkg/util/proxy) bring informers and a clientset.
package proxy
