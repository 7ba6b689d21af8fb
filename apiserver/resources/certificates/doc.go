// Package certificates has the kinds of the group certificates.k8s.io: CertificateSigningRequest,
// ClusterTrustBundle and PodCertificateRequest.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/certificates/v1
package certificates
