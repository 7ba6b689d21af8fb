// Package declarative compares validation with the declarative rules of the API types: the +k8s: tags in the comments
// of k8s.io/api. Rules of the level alpha only shadow kube-apiserver's handwritten validation, so both find the same
// errors; others are enforced, by the code that is generated from them (resources/internal/declared) or, in groups
// without it, by hand. It has tests only.
//
// It guarantees:
//
//  1. The rules are read from the module version in go.mod, whatever their level.
//  2. For each rule that sets a limit or requires a field of a served kind, an object that violates it has a
//     an error of the rule's type at the rule's field. Exceptions are listed with a reason, and must be exceptions.
//
// Not compared are rules of status, for which other validation is called, and tags other than required, minimum,
// maximum, maxItems, maxLength and maxBytes.
package declarative
