// Package cluster reads from any Kubernetes API server what gc/explain needs: which resources it serves, and the
// metadata of their objects. It needs nothing on the server but discovery and lists, and writes nothing. A kubecascade
// server can be asked for the answer itself (Ask).
//
// It guarantees:
//
//  1. Lists are paged and restricted to metadata, in protobuf where the server offers it. Only namespaces, API services,
//     webhooks and policies of admission with the services of webhooks, and objects that are being deleted and whose
//     kind has more to tell are read whole.
//  2. A resource that can't be listed is in the result, with the reason (explain.Resource.Unknown). If the user may
//     list it in the asked namespace only, that is read, and the reason says so.
//  3. The lists are of different moments. An owner that no list had is looked up before it is called absent.
//  4. At most Concurrency requests are sent at a time. When the context is done, all are ended, and Read returns.
//  5. Ask returns an answer of a kubecascade server only, and ErrNotAnswered where lists may have one.
package cluster
