// Package event records Events about objects for controllers: what they did, and what went wrong.
//
// It guarantees:
//
//  1. Record never blocks and never fails: Events are sent at best, once, by one goroutine. Up to 1000 wait
//     to be sent; more are dropped, which is logged.
//  2. What repeats is counted on the Event that says it already (client-go tools/record: EventCorrelator).
//     From the eleventh text on that an object gets for one reason within ten minutes, the others are
//     counted on one Event, whose text begins with "(combined from similar events): ".
//  3. One object gets 25 Events at once, and then one in five minutes; others are dropped silently.
//  4. What is remembered for that is bounded, and forgotten with the process.
//  5. Correlator is pure: it is told the time.
package event
