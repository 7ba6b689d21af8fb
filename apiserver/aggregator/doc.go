// Package aggregator forwards requests for a group version to the service of its APIService, and reads the discovery
// and OpenAPI documents of these services.
//
// It guarantees:
//
//  1. A request uses the APIService that is in the cache.
//  2. The server of an APIService gets the user in the headers X-Remote-*, which no client can set, and the client
//     certificate of the front proxy. It gets no credentials of the client.
//  3. It is trusted by the CA bundle of the APIService, with the name <service>.<namespace>.svc.
//  4. While the APIService is not available, only Check sends requests to it.
//  5. Its documents are read when they are needed, at most once a minute, and after each change of the APIService. The
//     documents of several servers are read concurrently, in at most 5 seconds. Close ends the reads.
//
// KA is k8s.io/kube-aggregator. Not modelled: a core group that another server implements; OpenAPI v3 of a server that
// has only v2.
package aggregator
