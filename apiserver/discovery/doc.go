// Package discovery tells clients what is served: /api, /apis, /apis/<group>, /api/v1 and
// /apis/<group>/<version>, and all of it in one document for clients that ask /api and /apis for
// apidiscovery.k8s.io/v2.
//
// It guarantees:
//
//  1. A document shows one state of the table of types, and every document of one request the same.
//  2. What has been added to the table before a request shows in its answer.
//  3. Documents are made once a change and encoded once a format; nobody waits for a reader.
//  4. Order and content are those of kube-apiserver v1.36.3 with an aggregator. Subresources that need
//     a kubelet or a proxy are left out, because this server has neither.
//  5. The aggregated documents' ETag depends on their content alone, so it is the same in every
//     instance over the same types, and is upstream's where the content is.
//
// Not modelled: apidiscovery.k8s.io/v2beta1, which v1.36 has removed for good (feature gate
// AggregatedDiscoveryRemoveBetaType), and documents merged from several servers.
package discovery
