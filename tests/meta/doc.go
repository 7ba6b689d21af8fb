// Package meta compares a server with the model: it sends random operations, and all responses and events of the server
// must be a possible history of the model.
//
//	make soak SUITE=meta                # 20 seeds of 2,000 operations on a server of its own
//	make soak SUITE=meta SEED=7 OPS=500 # one seed; a failure prints this, and the reduced operations
//
// It guarantees:
//
//  1. Settled runs send an operation when, by the model, the previous one has no more effects: there are no sleeps.
//     Interleaved runs send batches from several clients during cascades.
//  2. model.Explain checks each response, each watch event and its position in the order of versions. That includes
//     safety at each event, and liveness after each operation or batch.
//  3. From time to time a sentinel cascade is awaited, which proves that nothing else was in progress, and the server's
//     lists are compared with the model.
//  4. A failure prints the seed and the operations; reduce finds a short list that fails, too.
package meta
