// Package customresource makes entries of the table of types from CustomResourceDefinitions, so that their objects are
// served, validated, printed and applied like built-in ones. Schemas are processed by the packages of
// apiextensions-apiserver, which are called in the order of AX pkg/apiserver/customresource_handler.go and
// pkg/registry/customresource.
//
//	CRD -> Entries: one resources.Resource for each served version
//	                 |- version: the schema of one version, compiled at the first write
//	                 |- strategy, scale: the rules of writes
//	                 |- columns: tables
//	                 |- conversion, webhook: between versions
//	           -> Decide: names, conditions (pure)
//	Installer: keeps the table of types up to date with the stored CRDs; outline is the part of a CRD that it keeps
//
// It guarantees:
//
//  1. Entries and Decide are pure: the same CRDs result in the same entries and conditions.
//  2. Until the first write a CRD costs only its own bytes, which its entries share with its object in the cache:
//     schemas are parsed and rules are compiled version by version, once, when they are first needed.
//  3. An object is validated by the schema of the version that a request names, and decoded by that of the version in
//     which it was stored. If the two differ, the object is converted in one step by the conversion of the CRD. A
//     failure of a webhook is a resources.ConversionError; the object is never omitted. Up to 500 objects of a list are
//     sent to a webhook at once. Objects are pruned by the schema of the version to which they are converted, except
//     for the conversions of field managers.
//  4. Defaults and validation are limited: an object whose defaults are too large gets none and is invalid. So is one
//     whose size, multiplied by that of its schema, is too large to be validated. A stored one is still served.
//  5. The number of an object's errors is limited while they are found, if the library allows it. All errors below
//     anyOf, allOf, oneOf and not, all duplicates in lists, and all errors within the budget of the CEL rules are
//     found.
//  6. A call of a webhook ends with the request that it is for, at the latest after the timeout of webhooks. The
//     request holds no seat during the conversion.
//  7. The package keeps no state of objects. Entries may be used by any goroutine.
package customresource
