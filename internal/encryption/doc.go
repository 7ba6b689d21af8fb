// Package encryption encrypts stored values by the file of --encryption-provider-config, like kube-apiserver: with the
// providers aescbc, aesgcm, secretbox and identity, whose algorithms are k8s.io/apiserver's.
//
// It guarantees:
//
//  1. It decrypts the values that kube-apiserver has stored with the same file, and the other way round. The first
//     provider of a resource encrypts; all decrypt.
//  2. A file is accepted if kube-apiserver accepts it. No KMS plugin is called: values of the provider kms can't be
//     decrypted, and Writable fails for a file that requires kms to encrypt a resource.
//  3. An error of a value names its provider and its key, and states what is wrong. No error has a part of a secret.
//  4. A Store gives the same guarantees for keys, revisions and events as the store below it: only the values below the
//     root differ. A value that can't be decrypted causes no error of a read: the record has the stored bytes, and
//     Sealed.Err. A value that can't be encrypted is not written: Commit fails.
package encryption
