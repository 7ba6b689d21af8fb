// Package declared generates validation with upstream's validation-gen, from the +k8s: tags in the comments of the
// types of k8s.io/api. The packages of groups have the generated code of their types. The packages below this one have
// the code for types that groups share, for a second version of a kind, and for groups whose kinds are files of package
// resources. entry.Declared adds the code to the hooks of entries.
//
// A group has generated validation if it has a rule of the level beta or stable, because only these are enforced. Rules
// of the level alpha are written by hand. The table in resources/kindtest/declarative/testdata/rules.txt lists the
// generated and the handwritten rules of each kind.
//
// It guarantees:
//
//  1. The generated files follow from the versions of k8s.io/api and k8s.io/code-generator in go.mod and tests/go.mod,
//     and from the tags and the script here. generated.txt has these versions and checksums, and a test compares them.
package declared

//go:generate sh ./generate.sh
//go:generate go test . -run TestGeneratedFilesAreUpToDate -update
