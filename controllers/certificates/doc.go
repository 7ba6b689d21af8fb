// Package certificates signs approved CertificateSigningRequests, deletes old ones and old PodCertificateRequests, and
// publishes the certificates that verify the server (K pkg/controller/certificates:
// certificatesigningrequest-signing-controller, certificatesigningrequest-cleaner-controller,
// podcertificaterequest-cleaner-controller, kube-apiserver-serving-clustertrustbundle-publisher-controller).
//
// It guarantees:
//
//  1. Decisions are pure: a request, the time and the randomness in, a plan out. The key of the authority stays behind
//     the interface Authority.
//  2. Requests are signed only once, only if they are approved and not denied, and only for the four kubernetes.io
//     signers of kube-controller-manager. A request that a signer does not accept gets the condition Failed.
//  3. A signed certificate is no authority. Of a request's extensions, it has only the subject's alternative names.
//  4. A signed certificate does not outlive the authority's certificate.
//  5. A request is deleted when its time is over: an hour after it was approved, denied or failed, a day after it was
//     created if nothing was decided, or when its certificate expires. Nothing is polled; upstream checks every hour.
//  6. Approved requests for other signers are kept.
//  7. A PodCertificateRequest is deleted 15 minutes after its creation, in any state; upstream checks every five
//     minutes.
//  8. The ClusterTrustBundle of the server's certificates is created before others of its signer are deleted. Changes
//     of its content are reverted; its metadata is kept. It has no certificates that validation would reject.
//
// To read the source: sign.go decides and makes certificates, check.go has what each signer accepts, clean.go deletes,
// publish.go keeps the ClusterTrustBundle.
package certificates
