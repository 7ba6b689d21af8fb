// Package discovery serves the discovery documents: /api, /apis, /apis/<group>, /api/v1 and /apis/<group>/<version>,
// and the aggregated document for clients that request apidiscovery.k8s.io/v2 from /api and /apis.
//
// It guarantees:
//
//  1. A document shows one state of the table of types. All documents for one request show the same state.
//  2. A change of the table before a request is visible in its response.
//  3. Documents are made once for each change and encoded once for each format. No request waits for a slow reader.
//  4. Order and content are those of kube-apiserver v1.37 with an aggregator.
//  5. The lists of groups and versions contain those of other servers, in the order of the priorities of their
//     APIServices. In the aggregated document, a version whose server does not respond is stale, and has no resources.
//  6. The ETag of an aggregated document depends only on its content. So it is the same on all servers with the same
//     types, and the same as upstream's for the same content.
//
// Not modelled: apidiscovery.k8s.io/v2beta1, which v1.36 has removed (feature gate AggregatedDiscoveryRemoveBetaType).
package discovery
