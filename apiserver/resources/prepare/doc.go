// Package prepare sets what clients may not set: what a new object begins with, what an update or
// a write to a subresource leaves as it is stored, and what a client is warned of. Upstream keeps
// this in pkg/registry/<group>/<resource>/strategy.go (PrepareForCreate, PrepareForUpdate,
// WarningsOnCreate, WarningsOnUpdate) and in pkg/api/<resource>/warnings.go; here it is v1.36 with
// its default feature gates.
//
// Done elsewhere, for all kinds alike: status is emptied on create and kept on updates of kinds with
// a status subresource (Kind.OwnStatus and Kind.Parts excepted), spec is kept on writes to status,
// and metadata.generation is counted.
//
// It guarantees:
//
//  1. Pure: an object goes in and is changed in place. The clock is an argument of Table; what
//     happens at an object's creation bears its creation time.
//  2. The old object is never changed, and what is taken from it is shared only where the new object
//     is not changed further.
//  3. What Create leaves needs no defaulting: reading it back shows the same.
//  4. Texts of warnings are upstream's, and come in an order that doesn't vary.
//  5. No panic on an object of the right type, however odd; other objects pass unchanged.
//
// Fields of features that are off in v1.36 are dropped, unless the old object has them.
package prepare
