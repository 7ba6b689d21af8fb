// Package viewer serves the page of package ui for any cluster: the page's files, the objects and their changes, the
// answers to its questions, and the few requests that it sends to the API. All requests to the cluster have the
// credentials of the kubeconfig.
//
// It guarantees:
//
//  1. It serves loopback names only, and no request that a browser marks as one of another site, as the plain port of
//     kubecascade does. A request that changes something must be JSON, which no form of another page can send.
//  2. Of the API it passes on: GET of one object, lists of events of one object, SelfSubjectAccessReviews, and, unless
//     it is read-only, DELETE of one object. Nothing else reaches the cluster. No credentials of the browser are passed
//     on, and none of the kubeconfig go to the browser.
//  3. A kubecascade server answers itself. Of another one the metadata of all objects is listed and watched, events
//     aside, from the first request for it on; answers to questions are made of lists (package cluster).
//  4. At most twice ui.MostObjects objects, and little more than ui.MostPast changes, are in memory; if objects are
//     left out, the streams say so. Each stream has a position in the changes; one that falls behind gets a new
//     state. A client that reads nothing loses its stream.
//  5. Run returns when its context is done and all its goroutines have ended.
package viewer
