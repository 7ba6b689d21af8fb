// Package hooks declares what a kind may do beyond the create, read, update and delete that all kinds have: complete an
// object before it is stored, carry out a POST itself, or make objects when they are read. An entry of the table of
// types names its hooks (Hooks, and Create of a subresource). Package registry calls them, and knows no kind.
//
// The packages of kinds (core/pod, core/service ...) implement hooks with what the interfaces here offer: they import
// neither registry nor net/http.
//
// It guarantees:
//
//  1. Begin, and the methods of Request and Server, work on decoded objects of the stored version. They are the hook's
//     own to change.
//  2. Begin is called once for each attempt of a write of the object itself, never for its subresources. Finish of what
//     it returns is called exactly once, with the outcome of the write, even if the write panics.
//  3. What Fill returns as guards is compared in the transaction of the write. If one does not hold, Fill is called
//     again, with a fresh copy of the object, until the request's deadline.
//  4. The result of Create is the answer to the client. Nothing is stored but by the methods of Request.
//  5. A dry run calls the same hooks; Request and Write store nothing for it.
package hooks
