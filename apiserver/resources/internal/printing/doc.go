// Package printing has the printed columns and cells that kinds of several groups share, and makes tables of them.
//
// It guarantees:
//
//  1. Columns are those of Kubernetes v1.36.3. Descriptions that upstream takes from the documentation of an API type
//     are taken from there too, so they follow k8s.io/api.
//  2. A row has the cells of -o wide; the client drops what it doesn't show. Cells are string, int64 or bool.
//  3. Nothing reads a clock: ages count from an argument.
//  4. The cells of an object of another Go type than the table's panic.
package printing
