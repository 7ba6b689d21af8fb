// Package admission runs the admission plugins of a write: first the mutating ones, then the validating ones.
//
// It guarantees:
//
//  1. Plugins run in the order of the chain, all mutating ones before the validating ones, for each attempt to store.
//     An attempt after a conflict is admitted again. The mutating ones run twice if a webhook or policy has changed the
//     object, so they must be idempotent.
//  2. A plugin sees the request only as Attributes. It looks up objects through functions that are set when it is made
//     (All, by Lookup).
//  3. The first error ends the request. A plugin returns an API error or a plain error, which becomes a 403.
//  4. If an admitted write is not committed, plugins undo their own writes for it. They do not undo them if it is
//     unknown whether the write was committed.
package admission
