// Package weight estimates the memory that a request takes while its body is decoded, validated, merged and encoded,
// from the body's bytes and the Go type that they are decoded into. A body of three bytes an item ("{},") becomes items
// of up to some hundred bytes each, which are copied several times.
//
// It guarantees:
//
//  1. An estimate is an upper bound of the memory in use at a time, as measured (see the factors in size.go), for every
//     body that the decoders accept, and for what they decode of one before they reject it.
//  2. It allocates nothing but a name that is written with escapes, and the error of what isn't JSON. It takes time
//     linear in the bytes. Small bodies are counted, not parsed.
//  3. It never fails: what isn't the format that it should be is charged by its punctuation.
//
// A Shape is what is known of a Go type. Shapes are made once for each type, and may be used by any number of
// goroutines.
package weight
