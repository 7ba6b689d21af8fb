// Package check decides whether the observations of a Kubernetes API server's clients agree with the events in etcd. It
// is pure: a history in, violations out.
//
// It guarantees:
//
//  1. etcd's own events are the only truth. Every acknowledged write must be among them, no rejected one may be, and an
//     ambiguous one may or may not be.
//  2. A default read, and an acknowledged write, is at or after every revision that any client had seen before it
//     began, on any server. A read at resourceVersion=0 is at or after what its server process had shown before.
//  3. The content of every list and of every GET is that of one revision, exactly.
//  4. The events that a watcher received after a list, or after its last event or bookmark, are those of etcd: none is
//     missing, repeated or out of order. 410 Gone is accepted only for a reason that the history names.
//  5. An object that no client deleted was deleted by the garbage collector. At the revision before, it was terminating
//     already, or it had owners and none of them was solid (D-35).
//  6. A violation names the rule and carries the events and requests that show it.
//
// Whether the collector has finished is a question about one state: see Unfinished.
package check
