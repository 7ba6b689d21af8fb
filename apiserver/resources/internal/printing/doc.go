// Package printing has the printed columns and cells of several groups, and makes tables of them.
//
// It guarantees:
//
//  1. Columns are those of Kubernetes v1.37. Descriptions that upstream takes from the documentation of an API type
//     are taken from there, too, so they change with k8s.io/api.
//  2. A row has the cells of -o wide; the client omits those that it does not print. Cells are string, int64 or bool.
//  3. Nothing reads a clock: ages depend on an argument.
//  4. The cells of an object of another Go type than the table's panic.
package printing
