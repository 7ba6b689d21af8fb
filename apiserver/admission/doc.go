// Package admission is a chain of named plugins that a write passes: first those that change the
// object, then those that only judge it.
//
// It guarantees:
//
//  1. Plugins run in the order of the chain, mutating ones before validating ones, each once for
//     every attempt to store (an attempt that lost a race is admitted anew).
//  2. A plugin sees the request as Attributes and nothing else; what it needs to look up it is
//     given when it is made (All, by Lookup).
//  3. The first error ends the request. Plugins answer with an API error of their own or with a
//     plain one, which becomes a 403.
//  4. What a plugin wrote elsewhere for a write that was then not carried out, it is told to undo. It is
//     not told if nobody knows whether the write was carried out.
package admission
