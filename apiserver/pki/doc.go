// Package pki makes and renews what the secure port needs: a certificate authority, the serving
// certificate, an administrator's client certificate, the key that signs service accounts' tokens,
// and a kubeconfig that ties them together.
//
// It guarantees:
//
//  1. What is made is kept: the same directory gives the same authority and keys after a restart,
//     so clients' kubeconfigs stay good, but for guarantee 6.
//  2. The serving and the client certificate are made anew when less than a third of their year is
//     left, when they are not valid yet, when the authority changed, or when the serving
//     certificate lacks a name or address that is served now.
//  3. A running server needs no restart for that: it renews its serving certificate at a handshake,
//     and Bundle.Renew, called once a day, renews both. After that the kubeconfig is to be written
//     again; copies of the one before stay good until the client certificate in them expires, which
//     is about four months later.
//  4. A running server whose renewal fails, as in a directory that can't be written, serves the old
//     certificate until it expires. Handshakes try again and log it once an hour at most; once it
//     has expired each of them tries, and fails if that does. Ensure is stricter: a start fails if
//     it can't write what is due.
//  5. A clock that was set back never replaces the authority, even before the authority's own
//     start. It is kept with a warning; clients' certificates are refused until the clock is right,
//     and then copies of the kubeconfig are good again.
//  6. The authority lives for ten years. A start with less than a third of that left replaces it,
//     with a warning, and all certificates with it. Every copy of an earlier kubeconfig stops
//     working then and must be copied anew, as must ca.crt wherever clients were told to trust it:
//     they neither trust the new serving certificate nor is theirs accepted. Tokens of service
//     accounts stay valid, as their key is another. Renew never replaces the authority, so that it
//     happens at a start only; a server that runs on until its authority expires is refused by its
//     clients until it is started again.
//  7. A start at which the authority, a part of it or the key for tokens is gone, where there was one, makes another
//     and warns of what stops working. The part that is left of an authority is kept as .old: with the other part put
//     back it is the authority again. A file that holds something else is an error that names it.
//  8. Keys and the kubeconfig are readable by the owner only, and files are replaced as a whole.
package pki
