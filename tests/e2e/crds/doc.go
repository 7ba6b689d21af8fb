// Package crds installs the CustomResourceDefinitions of real projects, and creates and deletes their objects.
// controller-gen generates the definitions from the packages of types that the projects publish.
//
// It guarantees:
//
//  1. Each run generates the CustomResourceDefinitions, with this module's controller-gen and the versions in go.mod.
//     The repository has none of them.
//  2. The server under test is a process. kubectl is that of tests/kubectl.
package crds
