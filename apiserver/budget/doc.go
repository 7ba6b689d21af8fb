// Package budget limits the memory that requests take together.
//
// It guarantees:
//
//  1. The sum of the held claims never exceeds the total. Each class of claims has its own ceiling: an eighth of the
//     total is reserved for light claims, and another eighth for system:masters.
//  2. A claim that exceeds an empty budget is rejected at once (ErrTooLarge). Others wait until their context ends; the
//     caller sets its deadline.
//  3. The waiting claim of the holder with the fewest bytes is granted first; ties go to the earlier claim. Heavy
//     claims of holders that come later do not overtake a waiting heavy claim. Light claims may overtake it, so they
//     never wait for heavy ones.
//  4. A holder has at most half of the ceiling of heavy claims for its heavy claims, except for a single larger one,
//     and at most half of the ceiling of light claims for its light ones.
//  5. The number of held claims that take long to serve ("slow") is limited. One holder does not have all slots if
//     there is more than one.
//  6. Requests that wait for webhooks (Park) together hold at most three eighths of the total, and one holder's half of
//     that, except for a single larger claim. So claims of other requests find memory, however slow webhooks are. A
//     parked lease always gets back what it had (Resume), in turn, before new heavy claims; park.go has the proof.
//  7. The number of waiting claims is limited. Beyond that the latest claim of the holder with the most waiting claims
//     is rejected (ErrFull).
//
// A Budget may be used by any number of goroutines. It starts none.
package budget
