// Package etcdutl restores snapshots of kubecascade with etcd's own library, go.etcd.io/etcd/etcdutl/v3/snapshot. It is
// a module of its own, as the server links none of it.
//
// It guarantees:
//
//  1. It changes nothing outside of its temporary directories, and listens on no fixed port.
package etcdutl
