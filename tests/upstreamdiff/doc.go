// Command upstreamdiff compares two versions of the Kubernetes modules that go.mod requires. It prints the changes as a
// work list in Markdown: for each kind its fields, markers, constants, declarative rules and new feature gates; then
// the changes that belong to no kind, such as feature gates and error messages. It is the first step to the next minor
// (docs/next-minor.md).
//
//	go -C tests run ./upstreamdiff -to v0.38.0 [-from v0.37.2] [-modules api,apiserver]
//
// It guarantees:
//
//  1. The same two versions result in the same list. It is sorted by kind, then by section, package and name. A change
//     is listed once. The change of a type that several kinds have is listed with one kind of its package; the other
//     kinds refer to it.
//  2. It reads only sources: it compiles nothing of the other version, and does not change go.mod. The modules come
//     from the module cache, or the go command downloads them.
//  3. Tests and generated files are not compared. If the files of a package have changed, but no section has a change
//     of it, only the number of these files is listed: function bodies are not compared.
package main
