// Package warning collects the messages of a request's Warning headers.
//
// It guarantees:
//
//  1. A message is kept once, at the place of its first appearance, if it can be sent in a header at all.
//  2. Messages are kept only as long as they may still be sent: what is held is bounded, whatever is added.
//  3. What is sent is bounded as in rule 0-12: MaxRunes in all, and, if they don't fit, MaxEach of each.
//
// A List belongs to one request; it may not be used by several goroutines at a time. Those who make messages out of a
// client's input ask Full and stop making them, so that the work is bounded too.
package warning
