// Package crds installs the CustomResourceDefinitions of real projects, made by controller-gen from the packages of
// types that they publish, and creates and deletes objects of them.
//
// It guarantees:
//
//  1. CustomResourceDefinitions are made again by each run, by this module's controller-gen, from the versions that
//     go.mod names; none is kept here.
//  2. The server under test is a process, and kubectl the one of tests/kubectl.
//  3. make e2e SUITE=crds tests all of the projects, go test -short some.
package crds
