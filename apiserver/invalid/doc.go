// Package invalid makes the response 422 for objects and options that validation rejects, and collects the messages of
// the Warning headers.
//
// It guarantees:
//
//  1. The size of the response is limited, independent of the number of errors that validation finds. Otherwise it
//     could be huge, because messages quote invalid values. Some quote a whole list once for each of its items.
//  2. It contains at least one error, and always the first ones.
//  3. Warnings are kept in order. Duplicate messages, messages that a header can't contain, and messages beyond the
//     limits of rule 0-12 are dropped, so their memory is limited.
//
// Errors of several labels or annotations come in map order, as in upstream (apimachinery v1validation.ValidateLabels,
// apivalidation.ValidateAnnotations). Only the errors of one label have an order.
//
// No other package makes such responses (internal/arch), so the limit always applies.
package invalid
