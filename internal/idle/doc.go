// Package idle returns the memory of a burst of work to the system. It changes the whole process, so only the program
// uses it, not the library.
//
// It guarantees:
//
//  1. ReturnMemory acts only while the process is idle, once after each burst.
//  2. The contents of mapped files are not changed.
package idle
