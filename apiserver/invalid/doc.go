// Package invalid makes the response 422 for objects and options that validation rejects, and collects the messages of
// the Warning headers for those that it only disapproves of.
//
// It guarantees:
//
//  1. The size of the response is limited, however many errors validation finds. Messages quote invalid values, some of
//     them a whole list for each of its items, and to join them takes time for each.
//  2. It contains at least one error, and always the first ones.
//  3. Warnings are kept in order. Duplicate messages, and messages that a header can't contain, are dropped, and those
//     beyond the limits of rule 0-12 are not kept, so their memory is limited.
//
// Errors of several labels or annotations come in map order, as upstream (apimachinery v1validation.ValidateLabels,
// apivalidation.ValidateAnnotations). Only the errors of one label have an order.
//
// No other package makes such responses (internal/arch), so the limit always applies.
package invalid
