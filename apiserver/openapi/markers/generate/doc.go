// Command generate writes markers.txt into the current directory; see package markers.
//
// It guarantees:
//
//  1. The same modules give the same file.
package main
