// Package kubeapiserver is the command line of kube-apiserver v1.37, so that this program can be called as
// kube-apiserver by tools that start one, such as controller-runtime's envtest.
//
// It guarantees:
//
//  1. Every flag of kube-apiserver v1.37 that is known is accepted, and no other. Errors of unknown flags, unknown
//     feature gates and missing flags are kube-apiserver's.
//  2. A flag either sets its equivalent in kubecascade.Options, with kube-apiserver's type and default, or has no
//     effect (ineffective.txt): then its value is not parsed. Settings.Ineffective lists the given flags that have no effect,
//     internal/server logs gates that have none.
//  3. No controller runs unless Settings.Options.Controllers says so, except those that are a part of kube-apiserver.
//  4. --help prints the flags that have an effect, in kube-apiserver's sections. The descriptions are written for this
//     program.
//
// Of the 176 flags, 109 are from k8s.io/apiserver, component-base and kube-aggregator, as of v0.37.2; v0.36.6 has the
// same. The 67 of k8s.io/kubernetes are those of v1.36: neither its source nor the help of v1.37 was found. None of the
// changes of v1.37 in docs/semantics-1.37.md is about a flag.
//
// Parse reads no files. Settings.EnsureCertificate uses --cert-dir as kube-apiserver does.
package kubeapiserver
