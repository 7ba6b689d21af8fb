// Package schema lets tests compare docs/explain.schema.json with the Go types of the answers that it describes.
//
// It guarantees:
//
//  1. Every JSON field of a type is a property of its definition and the other way round, with the same JSON type, and
//     is required if and only if the type always has it.
//  2. Every constant of a type of strings is a value of its definition and the other way round.
package schema
