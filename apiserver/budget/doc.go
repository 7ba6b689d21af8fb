// Package budget shares an amount of memory between requests, so that what they take together is bounded.
//
// It guarantees:
//
//  1. The sum of what is held never exceeds the total. Each class of claims has a ceiling of its own: heavy claims
//     leave an eighth of the total to light ones, and what is not of the system's masters leaves them an eighth more.
//  2. A claim that no empty budget has room for is rejected at once (ErrTooLarge). Others wait as long as their context
//     lasts; it is the caller who bounds that.
//  3. A holder that holds less goes first, by bytes, then by time. No heavy claim of a holder that comes later passes
//     one that waits for room; light claims do, so they never wait for heavy ones.
//  4. A holder with heavy claims has no more than half of what heavy claims may take, but for a single one that is
//     larger, and one with light claims no more than half of what those may take.
//  5. Of claims that take long to serve ("slow") only so many are held at a time, and not all of them by one holder if
//     there is more than one.
//  6. The number of claims that wait is bounded. Beyond it the latest of the holder that has most of them is rejected
//     (ErrFull).
//
// A Budget may be used by any number of goroutines; it has none of its own.
package budget
