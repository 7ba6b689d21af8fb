// Package event records Events about objects for controllers: what they did, and what went wrong.
//
// It guarantees:
//
//  1. Record never blocks and never fails: Events are sent at best, once, by one goroutine. Up to 1000 wait
//     to be sent; more are dropped, which is logged.
//  2. What repeats is counted on the Event that says it already. From the tenth message on that an object gets for
//     one reason within ten minutes, the others are counted on one Event, whose message begins with "(combined
//     from similar events): ". client-go's EventCorrelator decides so.
//  3. One object gets 25 Events of a type at once, and then one in five minutes. Others are dropped, and counted on
//     the next that says the same.
//  4. What is remembered for that is bounded (4096 entries of each kind), and forgotten with the process.
package event
