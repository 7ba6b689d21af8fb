// Package invalid makes the answer 422 for objects and options that validation rejects.
//
// It guarantees:
//
//  1. The answer is bounded, however many errors validation has found: messages quote what is wrong, some of them a
//     whole list once an item, and joining them takes as long as they are many.
//  2. At least one error is told, and those that are told are the first.
//  3. A loop over Each ends where its errors are as many as are told, and the functions that stand for apimachinery's
//     find few more. Those that are told are the same as without.
//
// Nothing else in the server makes such answers (internal/arch), so that none is without the bound.
package invalid
