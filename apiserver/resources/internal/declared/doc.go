// Package declared generates validation by upstream's validation-gen, from the +k8s: tags in the comments of the types
// of k8s.io/api: in the packages of groups, and in the packages below it what groups share, a second version, and what
// only tests use. The entries of these groups add it to their hooks (entry.Declared).
//
// Groups are generated if a rule of the level beta or stable is in them: only these are enforced. Not generated are
// core and batch, which have few such rules and whose types contain pods, with a hundred rules of the level alpha.
// Their rules are written by hand, and resources/kindtest/declarative compares them with the tags. The server does not
// use the code of resource.k8s.io either, as the rule that keys of a list are unique compares each item with each
// other: resources/kindtest/validation compares the errors of the handwritten validation with the ones of that code.
//
// It guarantees:
//
//  1. The generated files are those of the versions of k8s.io/api and k8s.io/code-generator that go.mod and
//     tests/go.mod require, and of the tags and the script here: generated.txt has these versions and checksums, which
//     a test compares.
package declared

//go:generate sh ./generate.sh
//go:generate go test . -run TestUpToDate -update
