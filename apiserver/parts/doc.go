// Package parts reads, sets and compares the parts of an API object by their names: its spec, its status, or all but
// its metadata. Objects have a Go type or are unstructured.
//
// It guarantees:
//
//  1. Parts are shared between objects, not copied.
//  2. KeepRaw changes only the form of raw JSON, and only in the new object.
//  3. A comparison changes neither object, and copies nothing of them but their top level.
package parts
