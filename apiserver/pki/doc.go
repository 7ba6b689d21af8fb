// Package pki creates and renews the files of the secure port: a certificate authority, the serving certificate, an
// administrator's client certificate, the key that signs service account tokens, and a kubeconfig.
//
// It guarantees:
//
//  1. Keys and certificates are stored: after a restart, the same directory has the same authority and keys. So
//     clients' kubeconfigs stay valid, with the exception of guarantee 6.
//  2. The serving and the client certificate are renewed when less than a third of their year is left, when they are
//     not valid yet, when the authority has changed, or when the serving certificate lacks a name or address that is
//     served now.
//  3. Renewal needs no restart: a running server renews its serving certificate at a handshake, and Bundle.Renew, which
//     is called once a day, renews both. After that the kubeconfig must be written again. Copies of the previous one
//     stay valid until their client certificate expires, which is about four months later.
//  4. If a running server can't renew its certificate, for example because the directory is read-only, it serves the
//     old certificate until that expires. Handshakes retry, and log the error, at most once an hour. After the
//     certificate has expired, each handshake retries, and fails if the renewal fails. Ensure is stricter: a start
//     fails if it can't write a file that is due for renewal.
//  5. A clock that is set back never causes a new authority. An authority that is not valid yet is kept, with a
//     warning. Clients' certificates are rejected until the clock is right. Then copies of the kubeconfig work again.
//  6. The authority is valid for ten years. A start with less than a third of that left replaces it and all
//     certificates, with a warning. Then all copies of earlier kubeconfigs stop working and must be replaced, and so
//     must ca.crt on clients that trust it. Service account tokens stay valid, because they have another key. Only a
//     start replaces the authority, not Renew. When the authority of a running server expires, its clients reject the
//     server until it is restarted.
//  7. If the authority, a part of it or the key for tokens is missing, a start creates a new one, and warns of the
//     consequences. The remaining part of an authority is renamed to .old: it can be used again if the other part is
//     restored. A file with invalid content is an error that names it.
//  8. A serving certificate in Options is not renewed. Its files, and those of certificates for other names and of
//     clients' authorities, are read again when they are used, at most once a second, so they can be replaced while the
//     server runs. While their content is invalid, the previous content is used.
//  9. Only the owner can read keys and the kubeconfig. Files are replaced atomically.
package pki
