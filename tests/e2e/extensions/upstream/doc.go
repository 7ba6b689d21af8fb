// Package upstream starts apiextensions-apiserver, the part of kube-apiserver that serves custom resources, in this
// process, on an etcd of its own.
//
// It guarantees:
//
//  1. Start returns when the server is ready. Its user may do everything.
//  2. Nothing calls a kube-apiserver: API Priority and Fairness and the admission plugins that would are off.
package upstream
