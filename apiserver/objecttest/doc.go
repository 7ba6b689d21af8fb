// Package objecttest makes objects of built-in kinds for tests, from YAML and at random.
//
// It guarantees:
//
//  1. Random objects are the same for the same seed. Every exported field is set in some of them.
//  2. Objects from YAML are decoded strictly: an unknown field fails the test.
package objecttest
