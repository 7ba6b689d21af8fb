// Package ttl deletes Jobs that have finished, after the time that they say (K pkg/controller/ttlafterfinished).
//
// It guarantees:
//
//  1. It is pure: a Job and the time in, a plan out.
//  2. A Job is deleted in the very state in which its time has come: if it changes meanwhile, it is judged anew.
//  3. Its pods go before it, in the foreground.
package ttl
