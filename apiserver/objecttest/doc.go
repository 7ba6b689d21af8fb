// Package objecttest makes objects of built-in kinds for tests, from YAML and at random.
//
// It guarantees:
//
//  1. The same seed results in the same random objects. Every exported field is set in some of them.
//  2. Objects from YAML are decoded strictly: an unknown field fails the test.
package objecttest
