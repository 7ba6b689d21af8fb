// Package event records Events about objects for controllers: their actions and failures.
//
// It guarantees:
//
//  1. Record never blocks and never fails: one goroutine sends each Event once, best effort. Up to 1000 may wait to be
//     sent; further ones are dropped, which is logged.
//  2. A repetition increments the count of the present Event. From the tenth message on that an object gets for one
//     reason within ten minutes, the others are counted on one Event, whose message begins with "(combined from similar
//     events): ". client-go's EventCorrelator decides this.
//  3. One object gets 25 Events of a type at once, and then one in five minutes. Others are dropped, and counted on the
//     next one with the same message.
//  4. The memory for that is bounded (4096 entries of each kind), and lost with the process.
package event
