// Package patch applies the documents of PATCH requests to objects: JSON patches, merge patches and strategic merge
// patches. Server-side apply is package apply's.
//
// It guarantees:
//
//  1. An object is not changed by a patch that is applied to it: the result is another one.
//  2. What a merge patch does to a Go value directly is what it does to the object's JSON.
//  3. A patch is bounded before it is applied: its operations, the items that they move, the bytes that they copy, and
//     the lists that a strategic merge compares.
//  4. What field validation finds in a patch, and in what it makes of the object, is an error, a warning or nothing, as
//     the request says.
//  5. Errors are Kubernetes' own, with their status (B-50 to B-71).
package patch
