// Package cluster reads from a cluster what gc/explain needs: the resources that it serves, the metadata of their
// objects, and for some kinds the other fields on which deletion depends. It reads from a Source. The Source of a
// Server is the server's own cache. A Client is a Source for any cluster. Service answers questions and serves the
// page's stream from a Source, and Viewer serves the page of package ui for any cluster. Client also requests answers
// from a kubecascade server.
//
// It guarantees:
//
//  1. Metadata of objects is shown only if the user may list them: all of a resource, or those of the namespace in the
//     question. Others are in the result as not known, with the reason (explain.Resource.Unknown). Webhooks and
//     policies of admission are named only for users who may list all of them.
//  2. An answer from the cache is of one revision, not older than the store's at the beginning of the request. Objects
//     of aggregated servers, which are read as the user, and their owners may be newer. The lists of a Client are of
//     different moments. An owner that no list had, but may be newer, is looked up before it is called absent.
//  3. Nothing is kept after an answer, and neither the collector nor the cache waits for one. At most two questions are
//     answered at a time. Each has at most 30 seconds, and ends when its client goes away.
//  4. At most 32 streams of the graph are open at a time, each with at most ui.MostObjects objects when it begins, and
//     for 15 minutes. A stream sends each change of the metadata of objects that the user may list once; from a cache,
//     in the order of revisions. A stream gets a new state if it falls behind, if the cluster serves other types, or if
//     the user may list other types.
//  5. A Client needs only discovery, lists and watches of a server, and writes nothing. Lists are paged, and have only
//     metadata, except for kinds whose deletion depends on more, and for the configuration of admission. At most
//     concurrency are read at a time. If the response to a list is wrong, the resource counts as not known.
//  6. A Viewer serves loopback names only, and no request that a browser marks as one of another site. Changes must be
//     JSON, which no form of another page can send. Of the API it forwards only: GET of one object, lists of events of
//     one object, SelfSubjectAccessReviews, and, unless it is read-only, DELETE of one object. It forwards no
//     credentials of the browser, and the browser gets none of the kubeconfig.
//  7. Ask returns only answers of a kubecascade server, and ErrNotAnswered if the lists may have an answer.
package cluster
