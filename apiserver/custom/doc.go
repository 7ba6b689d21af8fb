// Package custom turns CustomResourceDefinitions into entries of the table of types, so that their
// objects are served, validated, printed and applied like built-in ones. apiextensions-apiserver's
// packages do what is to be done with schemas; the order in which they are asked is AX
// pkg/apiserver/customresource_handler.go's and pkg/registry/customresource's.
//
//	definition -> Entries: one resources.Resource a served version
//	                 |- version: what one version's schema says, compiled at the first write
//	                 |- strategy, scale: the rules of writes
//	                 |- columns: tables
//	                 |- conversion, webhook: between versions
//	           -> Judge: names, conditions (pure)
//	Installer: keeps the table of types in step with what is stored; outline is what it keeps of it
//
// It guarantees:
//
//  1. Entries and Judge are pure: the same definitions give the same entries and conditions.
//  2. A definition costs nothing but its own bytes until something is written: schemas are parsed and
//     rules compiled once, by the first who needs them.
//  3. An object is judged by the schema of the version that a request names, read by that of the version
//     that it was stored in, and converted between the two in one step as the definition says, if they
//     aren't the same; what a webhook can't convert is a resources.ConversionError, never an object that is
//     left out. Up to 500 objects of a list are sent to a webhook at once. What is read and written is pruned
//     by the schema of the version that it was converted to; what a field manager converts is not.
//  4. Defaults and validation are bounded: an object that defaults would make too large gets none, and is invalid; so
//     is one whose size times that of its schema is too large to be validated. A stored one is read as it is.
//  5. Errors in objects are bounded while they are found, where the library allows it: what stands below anyOf,
//     allOf, oneOf and not, duplicates in lists, and what the rules' budget is enough for are all found.
//  6. Nothing here keeps state of objects; entries may be used by any goroutine.
package custom
