// Package weight estimates the memory that a request takes while its body is decoded, validated, merged and encoded.
// The estimate depends on the body's bytes and on the Go type that they are decoded into. A body of three bytes per
// item ("{},") becomes items of up to some hundred bytes each, which are copied several times.
//
// It guarantees:
//
//  1. An estimate is an upper bound of the memory in use at any time, as measured (see the factors in size.go). That
//     holds for every body that the decoders accept, and for the decoded part of one that they reject.
//  2. It allocates only for escaped names and for the error of invalid JSON. Its time is linear in the number of bytes.
//     Small bodies are not parsed; only their punctuation is counted.
//  3. It never fails: the estimate of a malformed body depends on its punctuation.
//
// A Shape describes a Go type. It is made once for each type and may be used by any number of goroutines.
package weight
