// Package model is a model of the life of objects and of the garbage collector. It consists of pure functions on a map.
// It is small and slow. It was written from the rules of docs/semantics.md (A, B.2, C and D), not from the server's
// code. Tests compare servers with it.
//
//	next, response, events := model.Apply(state, op)   // the effect of a request, and its response
//	steps := model.Steps(state)                        // the possible next steps of the collector
//	end := model.Settle(state, pick)                   // a fixpoint of the collector
//	states, err := model.Explain(past, calls, events)  // is this history possible in the model?
//
// It guarantees:
//
//  1. The functions change no arguments, wait for nothing and read no clock. Equal arguments give equal results.
//  2. Explain accepts a history only if every event is the effect of a call or of a possible step of the collector,
//     every response is the model's response in a state during the call, and no step remains at the end.
//  3. Explain accepts a deletion by the collector only if no owner was solid at that event (safety). It accepts an end
//     only if no object is left whose owners are all absent (liveness). Two separate functions check this: Unsafe and
//     Abandoned.
//  4. UIDs and names are symbols, so that one list of operations has the same meaning on every server.
//
// Custom resources are served in several versions; one of them is stored. Requests and owner references may use any
// version. The versions differ only in the apiVersion of the response.
//
// Not modelled: deletion of namespaces, managedFields, server-side apply, fields of custom resources besides metadata,
// protobuf, and the values of timestamps. No time passes in the model, so the generator chooses only grace periods that
// are zero or longer than a run.
package model
