// Package backups opens backups that upstream's own code has written. The serializers of k8s.io/apimachinery encode the
// values, the providers of k8s.io/apiserver encrypt them, an etcd in the test stores them, and the function of "etcdctl
// snapshot save" saves them. Objects of earlier releases come from the testdata of k8s.io/api. Snapshots of the server
// are restored with etcd's own library.
//
// It guarantees:
//
//  1. It writes only to its temporary directories and to Go's module cache, to which it downloads versions of
//     k8s.io/api. It listens on no fixed port.
package backups
