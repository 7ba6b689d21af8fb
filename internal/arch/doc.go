// Package arch tests rules for several packages, such as which package may import which, and that each package states
// its guarantees. It has no code of its own.
//
// It guarantees:
//
//  1. Every forbidden import has a reason beside it.
//  2. Every package has a doc.go with a list of guarantees.
//  3. The entry of a built-in kind is in a file of the kind's name, and its group lists it once.
//  4. Every file below apiserver that names a built-in kind is in resources, or has a reason.
//  5. Every rule that the code cites is in docs/semantics.md, docs/semantics-admission.md or docs/semantics-1.37.md.
//     Each rule of the last has a test that exists, or a reason why it has none.
//  6. No package has more than 4,000 lines, except those of kinds.
//  7. Packages that a library user runs leave the process alone: its signals, flags, default logger and the like.
//  8. Pure packages receive the time, and start no goroutine.
//  9. Loops of the API server that collect errors end when there are enough errors.
//  10. Comments, messages and documents, apart from the specification and the changelog, contain no phrase of the list
//     phrases, which has the field's words for each phrase.
package arch
