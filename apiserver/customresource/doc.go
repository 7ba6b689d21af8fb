// Package customresource converts CustomResourceDefinitions (CRDs) to entries of the table of types, so that their
// objects are served, validated, printed and applied like built-in ones. The packages of apiextensions-apiserver
// process the schemas, and are called in the order of AX pkg/apiserver/customresource_handler.go and
// pkg/registry/customresource.
//
//	CRD -> Entries: one resources.Resource for each served version
//	                 |- version: the schema of one version, compiled at the first write
//	                 |- strategy, scale: the rules of writes
//	                 |- columns: tables
//	                 |- conversion, webhook: between versions
//	           -> Decide: names, conditions (pure)
//	Installer: updates the table of types when stored CRDs change; outline is the part of a CRD that the Installer keeps
//
// It guarantees:
//
//  1. Entries and Decide are pure: the same CRDs result in the same entries and conditions.
//  2. Before the first write, a CRD takes only the memory of its bytes, which its entries share with its object in the
//     cache. The schema and rules of a version are compiled once, when they are first needed.
//  3. An object is validated by the schema of the request's version, and decoded by the schema of its stored version.
//     If the two differ, the CRD's conversion converts it in one step. If the webhook fails, the result is a
//     resources.ConversionError. The object is never omitted. A webhook gets up to 500 objects of a list at once.
//     Objects are pruned by the schema of the version to which they are converted, except for conversions by field
//     managers.
//  4. Defaults and validation are limited. An object whose defaults are too large gets none and is invalid. An object
//     is also invalid if its size, multiplied by that of its schema, is too large. If it is already stored, it is still
//     served.
//  5. Validation stops after a limited number of errors. The library does not allow this below anyOf, allOf, oneOf and
//     not, for duplicates in lists, and for CEL rules, which have a budget.
//  6. A call of a webhook ends with its request, or earlier after the timeout of webhooks. The request holds no seat
//     during the conversion.
//  7. The package keeps no objects. Entries may be used by any goroutine.
package customresource
