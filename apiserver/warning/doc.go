// Package warning collects the messages of a request's Warning headers.
//
// It guarantees:
//
//  1. Messages are kept in order. Duplicate messages, and messages that a header can't contain, are dropped.
//  2. Messages beyond the limits of the headers are not kept, so their memory is limited.
//  3. The limits of the headers are those of rule 0-12: MaxRunes in all and, if the messages don't fit, MaxEach of
//     each.
//
// A List belongs to one request; goroutines must not use it concurrently. Code that makes messages from a client's
// input stops when Full returns true, so that the work is limited, too.
package warning
