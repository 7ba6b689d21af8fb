// Package meta runs the model against a server: the same random operations, and everything that
// the server answers and shows must be a history of the model's.
//
//	make meta                     # 20 seeds of 2,000 operations against a server in process
//	make meta SEED=7 OPS=500      # one seed; a failure prints this, and the operations reduced
//
// It guarantees:
//
//  1. Settled runs send one operation, and the next when the model says that nothing is left to do:
//     no sleeps. Interleaved runs send batches from several clients while cascades are under way.
//  2. Each answer, each watch event and its place in the one order of versions is checked by
//     model.Explain, which includes safety at each event and liveness after each operation or batch.
//  3. Now and then a sentinel cascade is awaited, which proves that nothing else was under way, and
//     what the server lists is compared with the model.
//  4. A failure names the seed and the operations; Reduce finds a short list that fails too.
package meta
