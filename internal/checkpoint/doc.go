// Package checkpoint returns a server to a recorded state.
//
// It guarantees:
//
//  1. A reader of the store or of the cache sees all writes of a rollback, or none. The cost of a rollback grows with
//     the number of objects that have changed since the checkpoint.
//  2. A checkpoint has every write that was acknowledged before the request for it. It copies no objects.
//  3. One checkpoint or rollback is carried out at a time, and none after Close.
package checkpoint
