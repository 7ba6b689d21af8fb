// Package storagetest has helpers for tests of storage.Store and of packages that use it: Open for a real store in a
// temporary directory, Twin for a slow one in memory, and Watch for a follower that checks what it receives. The tests
// of the guarantees of package storage are here, too.
//
// It guarantees:
//
//  1. Stores that it opens are closed at the end of the test, and leave no files behind.
//  2. The twin is simple enough to be checked by reading; tests move its clock.
//  3. Nothing sleeps: all waiting is for events.
package storagetest
