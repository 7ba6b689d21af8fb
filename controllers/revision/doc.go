// Package revision keeps the history of templates of StatefulSets and DaemonSets, in ControllerRevisions (K
// pkg/controller/history).
//
// It guarantees:
//
//  1. Everything in it is pure: objects in, objects out. Arguments are not changed.
//  2. The same template gives the same data, byte for byte, and therefore the same hash.
//  3. Data is compared semantically: a server may encode the same JSON in another way.
//  4. History is sorted by number, then age, then name; live revisions are never deleted.
package revision
