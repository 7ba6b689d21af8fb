// Package warning collects the messages of a request's Warning headers.
//
// It guarantees:
//
//  1. A message is kept once, at the place of its first appearance, if a header can contain it at all.
//  2. Messages are kept only as long as they may be sent, so their memory is limited.
//  3. The limits of the headers are those of rule 0-12: MaxRunes in all and, if the messages don't fit, MaxEach of
//     each.
//
// A List belongs to one request; goroutines must not use it concurrently. Code that makes messages from a client's
// input stops when Full returns true, so that the work is limited, too.
package warning
