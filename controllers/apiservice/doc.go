// Package apiservice keeps an APIService for every group version that the server itself serves, and the condition
// Available of every APIService (KA pkg/controllers/autoregister and pkg/controllers/status, K
// pkg/controlplane/controller/crdregistration; KA is k8s.io/kube-aggregator). In a cluster this is a part of the API
// server, so it always runs here.
//
// It guarantees:
//
//  1. The APIService of a built-in group version is created, or updated, once after each start. If a user deletes or
//     changes it afterwards, that lasts until the next start.
//  2. The APIService of a custom resource's group version exists, as it should be, as long as any CRD serves the
//     version.
//  3. An APIService without the label of this controller is never changed, except for its status, nor deleted.
//  4. Nothing is polled: a pass follows an event, or a failure after a pause that grows to half a minute. Neither the
//     start nor the creation of a CRD waits for a pass.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// Not modelled: requests are not forwarded to another server. Its APIService is never available.
package apiservice
