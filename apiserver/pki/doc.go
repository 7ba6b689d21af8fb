// Package pki makes and renews what the secure port needs: a certificate authority, the serving
// certificate, an administrator's client certificate, the key that signs service accounts' tokens,
// and a kubeconfig that ties them together.
//
// It guarantees:
//
//  1. What is made is kept: the same directory gives the same authority and keys after a restart,
//     so clients' kubeconfigs stay good.
//  2. A certificate is made anew when less than a third of its life is left, when the authority
//     changed, or when the serving certificate lacks a name or address that is served now. A
//     running server renews its serving certificate at a handshake, without a restart.
//  3. Keys and the kubeconfig are readable by the owner only, and files are replaced as a whole.
package pki
