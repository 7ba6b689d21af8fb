// Package encrypted is a storage.Store whose values are encrypted in etcd. Its users see plain values.
//
// It guarantees:
//
//  1. What the store guarantees of keys, revisions and events: only values below the root differ from what is stored.
//  2. A value that can't be decrypted is no error of a read: the record has what is stored, and Sealed.Err.
//  3. A value that can't be encrypted is not written: Commit fails.
//
// The package knows no algorithms and no configuration: those are the Cipher's.
package encrypted
