// Package ttl deletes finished Jobs after their ttlSecondsAfterFinished (K pkg/controller/ttlafterfinished).
//
// It guarantees:
//
//  1. It is pure: a Job and the time in, a plan out.
//  2. A Job is deleted only in the state for which that was decided: if it changes meanwhile, another pass decides.
//  3. Its pods are deleted before it, by foreground deletion.
package ttl
