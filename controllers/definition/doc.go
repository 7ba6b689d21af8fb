// Package definition keeps the status of CustomResourceDefinitions, and empties those that are being
// deleted before they go (AX pkg/controller/status, establish, nonstructuralschema, finalizer). On a
// cluster it is a part of the API server, and so it always runs here.
//
// It guarantees:
//
//  1. Names that nobody else has in the group are accepted and the definition is established in one
//     write; a name that becomes free is given to whoever waits for it.
//  2. Objects of a definition that is being deleted are deleted as anybody would delete them, their own
//     finalizers honoured; the definition's finalizer goes when the last of them has (F-09, F-10). Whatever
//     stands in the way of that shows in the status until it no longer does.
//  3. Nothing is polled: a pass follows an event, or a failure after a pause that grows to a minute, and
//     that no event makes shorter than a fifth of a second.
//  4. Passes are made one after the other, so two definitions can't be given one name. Run returns when
//     its context is done, after everything that it started has returned.
package definition
