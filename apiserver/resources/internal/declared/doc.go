// Package declared generates validation by upstream's validation-gen, from the +k8s: tags in the comments of the types
// of k8s.io/api: in the packages of groups, and in the packages below it what groups share, and a second version. The
// entries of these groups add it to their hooks (entry.Declared).
//
// Groups are generated if a rule of the level beta or stable is in them: only these are enforced. Rules of the level
// alpha are written by hand. The table in resources/kindtest/declarative/testdata/rules.txt lists, for each kind, the
// rules that are generated and those that are written by hand.
//
// It guarantees:
//
//  1. The generated files are those of the versions of k8s.io/api and k8s.io/code-generator that go.mod and
//     tests/go.mod require, and of the tags and the script here: generated.txt has these versions and checksums, which
//     a test compares.
package declared

//go:generate sh ./generate.sh
//go:generate go test . -run TestUpToDate -update
