// Package revision keeps the history of templates that StatefulSets and DaemonSets have had, in
// ControllerRevisions (K pkg/controller/history).
//
// It guarantees:
//
//  1. Everything in it is pure: objects in, objects out. What it is given is not changed.
//  2. The same template gives the same data, byte for byte, and thereby the same hash.
//  3. Data is compared by meaning: a server may write the same JSON in another way.
//  4. History is sorted by number, then age, then name; what is live is never thrown away.
package revision
