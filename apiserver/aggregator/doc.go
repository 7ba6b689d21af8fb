// Package aggregator forwards requests for a group version to the service that its APIService names, and reads the
// discovery and OpenAPI documents of such services.
//
// It guarantees:
//
//  1. An APIService is in force as the cache has it, for the next request. There is no table to keep up to date.
//  2. A server behind an APIService gets the user in headers X-Remote-, which no client can set, and the certificate
//     of the front proxy. It gets no credentials of the client.
//  3. It is trusted by the CA bundle of the APIService, and by the name <service>.<namespace>.svc.
//  4. Nothing is sent to it while the APIService is not available, except by Check.
//  5. Its documents are read when they are needed, at most once a minute, and after each change of the APIService.
//     Reads of several servers are concurrent, and take at most 5 seconds.
//
// KA is k8s.io/kube-aggregator. Not modelled: a core group that another server implements; OpenAPI v3 of a server that
// has only v2.
package aggregator
