// Package storagetest has what tests of and over storage.Store need:
//
//   - Open: a real store in a temporary directory.
//   - Twin: a slow one in memory, simple enough to be seen right, with a clock that is moved by hand.
//   - Watch: a follower that checks the timeline it is given.
//   - Run: the guarantees of package storage as tests, for any store.
package storagetest
