// Package check checks whether the observations of a Kubernetes API server's clients agree with the events in etcd. It
// is pure: its argument is a history, its result the violations.
//
// It guarantees:
//
//  1. Only etcd's own events are trusted. They must include every acknowledged write, and no rejected write. They may
//     include an ambiguous one.
//  2. A default read, and an acknowledged write, is at or after every revision that any client had seen, on any server,
//     before the request began. A read at resourceVersion=0 is at or after the revisions that its server process had
//     shown before.
//  3. The content of every list and of every GET is exactly that of one revision.
//  4. The events that a watcher receives after a list, or after its last event or bookmark, are those of etcd: none is
//     missing, repeated or out of order. A 410 is accepted only for a reason that the history contains.
//  5. If no client deleted a removed object, the garbage collector deleted it. At the revision before, the object was
//     terminating already, or it had owners, none of which was solid (D-35).
//  6. A violation has the rule, and the events and requests that show it.
//
// Unfinished checks, in one state, whether the collector has finished.
package check
