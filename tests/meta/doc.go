// Package meta compares a server with the model. It sends random operations, and checks that all responses and events
// of the server are a possible history of the model.
//
//	make soak SUITE=meta                # 20 seeds of 2,000 operations on a new server
//	make soak SUITE=meta SEED=7 OPS=500 # one seed; a failure prints this, and the reduced operations
//
// It guarantees:
//
//  1. Settled runs send an operation when the previous one has no more effects in the model. They don't sleep.
//     Interleaved runs send batches from several clients during cascades.
//  2. model.Explain checks each response, each watch event and its position in the order of versions. That includes
//     safety at each event, and liveness after each operation or batch.
//  3. From time to time the test waits for a sentinel cascade, which proves that no other cascade was in progress. It
//     then compares the server's lists with the model.
//  4. A failure prints the seed and the operations. reduce finds a short list of operations that also fails.
package meta
