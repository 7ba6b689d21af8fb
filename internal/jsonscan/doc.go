// Package jsonscan scans JSON in place: nothing is copied, and no values are made of what is passed over. It is the
// only scanner of this module; storage, metadata, managed fields, limits and memory estimates read by it.
//
//	Scanner  one document, value by value, for readers that know what they look for
//	Marks    the punctuation of anything, for counts that must not depend on whether it is JSON
//	Member   where the value of one member of an object stands
//
// It guarantees:
//
//  1. A Scanner that has passed a whole document and is Done has read what encoding/json.Valid accepts, to the same
//     depth, and it accepts all of that. FuzzScanner compares the two, token by token.
//  2. A String stands for the same bytes as in encoding/json: what is no UTF-8, and half a surrogate pair, is U+FFFD.
//  3. A Scanner that has failed stands at the end of its document, so loops over members and elements end. It keeps
//     its first error.
//  4. Marks never fails. Of valid JSON it gives every brace, bracket, comma and colon that is outside of strings. It
//     takes time linear in the bytes.
//  5. Nothing allocates but errors and String.Value. Member and Skip recurse as deep as the document is nested, up to
//     MaxDepth.
//
// A Scanner belongs to one goroutine. All results are parts of the data that was given.
package jsonscan
