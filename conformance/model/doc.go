// Package model is a model of the life of objects and of the garbage collector's work, as pure functions on a map. It
// is small, slow, and written from the rules of docs/semantics.md (A, B.2, C and D), not from the server's code.
// Servers are compared with it.
//
//	next, response, events := model.Apply(state, op)   // the effect of a request, and its response
//	steps := model.Steps(state)                        // the possible next steps of the collector
//	end := model.Settle(state, pick)                   // a fixpoint of the collector
//	states, err := model.Explain(past, calls, events)  // is this history possible in the model?
//
// It guarantees:
//
//  1. The functions change no arguments, wait for nothing and read no clock. The same arguments have the same results.
//  2. Explain accepts a history only if every event is the effect of one of the calls or of a possible step of the
//     collector, every response is the model's at some moment during the call, and nothing is left to do at the end.
//  3. A deletion by the collector is accepted only if no owner was solid at that event (safety). An end is accepted
//     only if no object is left whose owners are all absent (liveness). Both are separate formulas: Unsafe and
//     Abandoned.
//  4. UIDs and names are symbols, so that one list of operations has the same meaning on every server.
//
// Custom resources are served in several versions, one of which is stored: requests and owner references may use any of
// them. The only difference is the apiVersion of the response.
//
// Not modelled: deletion of namespaces, managedFields, server-side apply, fields of custom resources besides metadata,
// protobuf, and the values of timestamps. The period of a graceful deletion is modelled as if no time passed, so the
// generator only chooses periods that are longer than a run, or zero.
package model
