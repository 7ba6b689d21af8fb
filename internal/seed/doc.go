// Package seed provides the seeds of random tests.
//
// It guarantees:
//
//  1. A test has the same seed in every run, so that an unrelated change doesn't make it fail by chance.
//  2. SEED=N in the environment repeats a run; SEED=random draws a new one, for the long runs of make soak.
//  3. The test's log has the seed, in the form for SEED.
package seed
