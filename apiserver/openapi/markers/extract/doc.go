// Package extract reads the markers of API types from their Go sources, for package markers'
// generated file and for the test that keeps it fresh. The server doesn't link it.
//
// It guarantees:
//
//  1. The output is sorted by package and otherwise in the order of the declarations, and is
//     the same for the same sources.
//  2. A marker that it can't express is an error and never dropped in silence.
package extract
