// Package kubeapiserver is the command line of kube-apiserver v1.36, so that this program can be called as
// kube-apiserver by tools that start one, such as controller-runtime's envtest.
//
// It guarantees:
//
//  1. Every flag of kube-apiserver v1.36 is accepted, with its type and default, and no other. Errors of unknown flags,
//     unknown feature gates and missing flags are kube-apiserver's.
//  2. A flag either sets its equivalent in kubecascade.Options or has no effect. Settings.Ineffective lists the given
//     flags that have no effect, internal/server logs gates that have none.
//  3. No controller runs unless Settings.Options.Controllers says so, except those that are a part of kube-apiserver.
//  4. --help prints the flags in kube-apiserver's sections. The descriptions are written for this program.
//
// Of the flags, 109 are from k8s.io/apiserver, component-base and kube-aggregator, which have the same in v0.36.6 and
// v0.37.2. Those of k8s.io/kubernetes were not compared with v1.37.
//
// Parse reads no files. Settings.EnsureCertificate uses --cert-dir as kube-apiserver does.
package kubeapiserver
