// Package admission runs the admission plugins of a write: first the mutating ones, then the validating ones.
//
// It guarantees:
//
//  1. For each attempt to store an object, all mutating plugins run before the validating ones, each in the order of
//     the chain. An attempt after a conflict runs them again. The mutating plugins run twice if a webhook or policy has
//     changed the object, so they must be idempotent.
//  2. A plugin gets the request only as Attributes. It looks up objects with the functions in its fields, which All
//     sets from a Lookup.
//  3. The first error ends the request. A plugin returns an API error or a plain error, which becomes a 403.
//  4. If an admitted request is not committed, the plugins undo the writes that they made for it. If the outcome of the
//     commit is unknown, they undo nothing.
package admission
