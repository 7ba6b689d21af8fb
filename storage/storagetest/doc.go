// Package storagetest has what tests of and over storage.Store need: Open for a real store in a
// temporary directory, Twin for a slow one in memory, Watch for a follower that checks what it is
// given, and Run for the guarantees of package storage as tests of any store.
//
// It guarantees:
//
//  1. What it opens is closed at the end of the test, and leaves no file behind.
//  2. The twin is simple enough to be seen right; its clock is moved by hand.
//  3. Nothing here sleeps: whoever waits, waits for an event.
package storagetest
