// Package encryption encrypts stored values as the file of --encryption-provider-config says, like kube-apiserver: with
// the providers aescbc, aesgcm, secretbox and identity, whose algorithms are k8s.io/apiserver's.
//
// It guarantees:
//
//  1. What kube-apiserver has stored with the same file is decrypted, and the other way round. The first provider of a
//     resource encrypts; all decrypt.
//  2. A file is accepted if kube-apiserver accepts it. No KMS plugin is called: values of the provider kms can't be
//     decrypted, and Writable fails for a file by which some would have to be encrypted with it.
//  3. An error of a value names its provider and its key, and states what is wrong. No error has a part of a secret.
//  4. A Store guarantees what the store below it does of keys, revisions and events: only values below the root differ
//     from what is stored. A value that can't be decrypted is no error of a read: the record has what is stored, and
//     Sealed.Err. A value that can't be encrypted is not written: Commit fails.
package encryption
