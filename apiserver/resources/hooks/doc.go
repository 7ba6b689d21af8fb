// Package hooks declares the interfaces for behaviour that is specific to a kind, in addition to the create, read,
// update and delete of all kinds: complete an object before it is stored, handle a POST, or make objects when they are
// read. An entry of the table of types has its hooks (Hooks, and Create of a subresource). Package registry calls them,
// and knows no kind.
//
// The packages of kinds (core/pod, core/service ...) implement hooks with the interfaces here: they import neither
// registry nor net/http.
//
// It guarantees:
//
//  1. Begin, and the methods of Request and Server, get and return decoded objects of the stored version. The hook may
//     change them.
//  2. Begin is called once for each attempt to write the object itself, never for its subresources. Finish of its
//     result is called exactly once, with the outcome of the write, even if the write panics.
//  3. The guards that Fill returns are compared in the transaction of the write. If one does not hold, Fill is called
//     again, with a new copy of the object, until the request's deadline. If webhooks have been asked about the filled
//     object, Fill is first called with a copy of that.
//  4. The result of Create is the response to the client. Only the methods of Request store anything.
//  5. A dry run calls the same hooks; Request and Write store nothing for it.
package hooks
