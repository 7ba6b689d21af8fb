// Package checkpoint brings a server back to a state that it has remembered.
//
// It guarantees:
//
//  1. A reader of the store or of the cache sees all that a rollback writes, or nothing of it. Its cost is that of the
//     objects that have changed since the checkpoint.
//  2. A checkpoint has every write that was acknowledged before it was asked for. It copies no objects.
//  3. One checkpoint or rollback is carried out at a time, and none after Close.
package checkpoint
