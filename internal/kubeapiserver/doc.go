// Package kubeapiserver is the command line of kube-apiserver v1.37, so that this program can be called as
// kube-apiserver by tools that start one, such as controller-runtime's envtest. It sets the flags of "kubecascade
// serve".
//
// It guarantees:
//
//  1. Every flag of kube-apiserver v1.37 that is known (flags.txt) is accepted, and no other. Errors of unknown flags,
//     unknown feature gates and missing flags are kube-apiserver's.
//  2. A flag with an effect sets the flag of serve with the same name, whose default becomes kube-apiserver's. The
//     value of a flag without effect is not parsed, unless it is a bool.
//  3. --help prints the flags that have an effect, in kube-apiserver's sections. The descriptions are those of serve.
//
// Of the 177 flags, 110 are from k8s.io/apiserver, component-base and kube-aggregator, as of v0.37.2; v0.36.6 has the
// same. The 67 of k8s.io/kubernetes are those of v1.36: neither its source nor the help of v1.37 was found. None of the
// changes of v1.37 in docs/semantics-1.37.md is about a flag.
//
// Parse reads no files. EnsureCertificate uses --cert-dir as kube-apiserver does.
package kubeapiserver
