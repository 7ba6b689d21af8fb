// Package upstream starts apiextensions-apiserver, the part of kube-apiserver that serves custom resources, in this
// process, on an etcd of its own.
//
// It guarantees:
//
//  1. Start returns when the server is ready. Its user has all permissions.
//  2. The server calls no kube-apiserver: API Priority and Fairness and the admission plugins that would call it are
//     off.
package upstream
