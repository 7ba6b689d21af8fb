// Package help answers --help of kube-apiserver and etcd from a file beside the link by which the program is called.
// envtest asks both for it each time it starts an environment, and the initialization of the packages of etcd and
// Kubernetes takes more than ten times as long as the answer. It ends the process, so only the program imports it, not
// the library.
//
// It guarantees:
//
//  1. It answers before the packages of etcd and Kubernetes are initialized: packages that depend on no uninitialized
//     ones are initialized in the order of their paths (Go specification, "Package initialization"), and this one
//     depends on few.
//  2. The answer is what the same file of the program has printed: internal/assets runs it, and another size or
//     modification time of the program's file makes the answer invalid. Both streams and the exit code 0 are the same.
//  3. Without a valid answer, with other arguments, or if the program was found by PATH, it does nothing, and the
//     program answers as usual.
package help
