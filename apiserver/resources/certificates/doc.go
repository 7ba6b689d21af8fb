// Package certificates has the kinds of the group certificates.k8s.io: CertificateSigningRequest,
// ClusterTrustBundle and PodCertificateRequest.
//
// It guarantees:
//
//  1. What package entry states for the packages of groups.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/certificates/v1
package certificates
