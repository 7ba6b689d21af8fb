// Package pki makes and renews the files of the secure port: a certificate authority, the serving certificate, an
// administrator's client certificate, the key that signs service accounts' tokens, and a kubeconfig with all of these.
//
// It guarantees:
//
//  1. Keys and certificates are stored: the same directory has the same authority and keys after a restart, so clients'
//     kubeconfigs stay valid, except as in guarantee 6.
//  2. The serving and the client certificate are renewed when less than a third of their year is left, when they are
//     not valid yet, when the authority has changed, or when the serving certificate lacks a name or address that is
//     served now.
//  3. A running server needs no restart for that: it renews its serving certificate at a handshake, and Bundle.Renew,
//     called once a day, renews both. After that the kubeconfig must be written again. Copies of the previous one stay
//     valid until their client certificate expires, which is about four months later.
//  4. If a running server can't renew its certificate, as in a read-only directory, it serves the old one until that
//     expires. Handshakes try again, and log the error, at most once an hour. Once the certificate has expired, each
//     handshake tries again and fails if that does. Ensure is stricter: a start fails if it can't write a file that is
//     due for renewal.
//  5. A clock that was set back never causes a new authority, even if the present one is not valid yet. It is kept with
//     a warning. Clients' certificates are rejected until the clock is right; then copies of the kubeconfig work again.
//  6. The authority is valid for ten years. A start with less than a third of that left replaces it, with a warning,
//     and all certificates with it. All copies of earlier kubeconfigs stop working then and must be replaced, and so
//     must ca.crt on clients that trust it: they do not trust the new serving certificate, and theirs are rejected.
//     Tokens of service accounts stay valid, as they have another key. Renew never replaces the authority, so this
//     happens only at a start. When the authority of a running server expires, its clients reject it until it is
//     restarted.
//  7. A start that finds the authority, a part of it or the key for tokens missing makes a new one and warns of the
//     consequences. The remaining part of an authority is renamed to .old: with the other part restored it is the
//     authority again. A file with other content is an error that names it.
//  8. A serving certificate that Options name is used as it is: it is not renewed. Files with it, with certificates for
//     other names and with clients' authorities are read again when they are used and a second has passed, so they can
//     be replaced while the server runs. While their content is invalid, the previous one is used.
//  9. Only the owner can read keys and the kubeconfig. Files are replaced atomically.
package pki
