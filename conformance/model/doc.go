// Package model is the life of objects and the garbage collector's work as pure functions over a
// map: small, slow, and written from the rules of SEMANTICS.md (A, B.2, C and D), not from the
// server's code. Whatever a server does is compared with it.
//
//	next, response, events := model.Apply(state, op)   // what a request does and answers
//	steps := model.Steps(state)                        // what the collector may do next
//	end := model.Settle(state, pick)                   // a fixpoint of the collector
//	states, err := model.Explain(past, calls, events)  // is this history one of the model's?
//
// It guarantees:
//
//  1. Values in, values out: nothing given is changed, nothing waits, nothing reads a clock. The
//     same arguments give the same results.
//  2. Explain accepts a history only if every event is the effect of one of the calls or a step that
//     the collector was allowed to take, every answer is the one that the model gives at a moment when
//     the call was under way, and nothing is left to do at the end.
//  3. A deletion by the collector is accepted only if no owner was solid at that very event
//     (safety); an end is accepted only if nothing stays whose owners are all gone (liveness). Both
//     are formulas of their own besides the steps: Unsafe and Abandoned.
//  4. Uids and names are symbols, so that one list of operations means the same on every server.
//
// Custom resources are served in several versions, of which one is stored: requests and owner references may name any
// of them, and none makes a difference but in the apiVersion of the answer.
//
// Not modelled: namespaces that are deleted, managedFields, server-side apply, what custom resources have besides
// metadata, protobuf, and the values of timestamps. The period of a graceful deletion is modelled as if
// no time passed, so the generator only chooses periods that outlast a run, or that end at once.
package model
