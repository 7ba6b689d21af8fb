// Command upstreamdiff compares two versions of the Kubernetes modules that go.mod requires, and prints what changed as
// a work list in Markdown: for each kind its fields, markers, constants, declarative rules and new feature gates; then
// what belongs to no kind, such as feature gates and the texts of errors. It is the first step to the next minor
// (docs/next-minor.md).
//
//	go -C tests run ./upstreamdiff -to v0.38.0 [-from v0.37.2] [-modules api,apiserver]
//
// It guarantees:
//
//  1. The same two versions result in the same list. It is sorted by kind, then by section, package and name. A change
//     is listed once: that of a type which several kinds have, with one kind of its package, to which the others refer.
//  2. It reads sources only: nothing of the other version is compiled, and go.mod is not changed. The modules come from
//     the module cache, or are downloaded by the go command.
//  3. Tests and generated files are not compared. Of a package that no section names, and whose files changed, only the
//     number of these files is listed: function bodies are not compared.
package main
