// Package seed gives random tests their seeds.
//
// It guarantees:
//
//  1. A test has the same seed in every run, so that a change that breaks nothing turns no test red by chance.
//  2. SEED=N in the environment repeats a run; SEED=random draws a new one, for the long runs of make soak.
//  3. The seed is in the test's log, in a form that can be given back.
package seed
