// Package extract reads the markers of API types from their Go sources, for package markers' generated file and for the
// test that compares it. The server does not link it.
//
// It guarantees:
//
//  1. The output is sorted by package and otherwise in the order of the declarations. The same sources result in the
//     same output.
//  2. A marker that it does not support is an error.
package extract
