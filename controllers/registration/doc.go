// Package registration keeps an APIService for every group version that the server itself serves, and says
// of every APIService whether what it names can be reached (KA pkg/controllers/autoregister and
// pkg/controllers/status, K pkg/controlplane/controller/crdregistration; KA is k8s.io/kube-aggregator). On a
// cluster it is a part of the API server, and so it always runs here.
//
// It guarantees:
//
//  1. The APIService of a built-in group version is made, or brought up to date, once after each start; whoever
//     deletes or changes it afterwards is obeyed until the next.
//  2. That of a definition's group version is there, as it should be, as long as any definition serves the
//     version.
//  3. One without the label that says who made it is never changed but for its status, nor deleted.
//  4. Nothing is polled: a pass follows an event, or a failure after a pause that grows to half a minute. Nobody
//     waits for a pass, so neither a start nor a definition is any slower.
//  5. Run returns when its context is done, after everything that it started has returned.
//
// Not modelled: requests aren't passed on to another server. Its APIService is never available.
package registration
