// Package objecttest makes objects of built-in kinds for tests, from YAML and at random.
//
// It guarantees:
//
//  1. Random objects are the same for the same seed, and have every exported field filled at times.
//  2. Objects that it reads are decoded strictly: a misspelt field fails the test.
package objecttest
