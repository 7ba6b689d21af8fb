// Package jsonscan scans JSON in place: it copies nothing, and makes no values for skipped parts. It is the only
// scanner of this module; storage, metadata, managed fields, limits and memory estimates use it.
//
//	Scanner  one document, value by value, for readers that know its structure
//	Marks    the punctuation of any data, for counts that must not depend on whether it is JSON
//	Member   the position of the value of one member of an object
//
// It guarantees:
//
//  1. A Scanner reads a document to the end without an error (Done) if and only if encoding/json.Valid accepts it, to
//     the same depth. FuzzScanner compares the two, token by token.
//  2. A String decodes to the same bytes as in encoding/json: invalid UTF-8, and half a surrogate pair, is U+FFFD.
//  3. A Scanner that has failed is at the end of its document, so loops over members and elements end. It keeps its
//     first error.
//  4. Marks never fails. For valid JSON it yields every brace, bracket, comma and colon outside of strings. Its time is
//     linear in the bytes.
//  5. Only errors and String.Value allocate. Member and Skip recurse as deep as the document is nested, up to MaxDepth.
//
// A Scanner belongs to one goroutine. All results are parts of the given data.
package jsonscan
