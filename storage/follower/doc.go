// Package follower keeps values that are derived from collections as new as the watch cache.
//
// It guarantees:
//
//  1. When CatchUp has returned nil, its owner has every event up to the revision that the cache had when CatchUp was
//     called. The owner gets the events of one collection in their order, each once.
//  2. There is no goroutine and no queue: the caller that needs the derived value brings it up to date. Only one caller
//     does so at a time. While no object of any collection changes, CatchUp costs one comparison.
//  3. An owner that has missed events, or had an error, is rebuilt from all collections at one revision.
package follower
