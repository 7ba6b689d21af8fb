// Package patch applies PATCH requests to objects: JSON patches, merge patches and strategic merge patches. Package
// fieldmanager does server-side apply.
//
// It guarantees:
//
//  1. A patch does not change the object that it is applied to; the result is a new object.
//  2. The cost of a patch is checked before it is applied: its operations, the items that they move, the bytes that
//     they copy, and the lists that a strategic merge compares.
//  3. Field validation of the patch and of the patched object results in an error, in warnings or in nothing, as the
//     request says.
//  4. Errors are Kubernetes' own, with their status (B-50 to B-71).
package patch
