// Package backups opens backups that upstream's own code has written with a kubecascade server: values by the
// serializers of k8s.io/apimachinery, encrypted by the providers of k8s.io/apiserver, stored by an etcd that is
// embedded in the test, and saved by the function of "etcdctl snapshot save". Objects of earlier releases are those in
// the testdata of k8s.io/api. Snapshots of the server are restored with etcd's own library.
//
// It guarantees:
//
//  1. It changes nothing outside of its temporary directories and of Go's cache, to which it downloads versions of
//     k8s.io/api, and listens on no fixed port.
package backups
