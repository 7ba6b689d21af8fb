// Package componentstatus makes the objects of componentstatuses (K pkg/registry/core/componentstatus).
//
// It guarantees:
//
//  1. The objects are as of the moment when they are asked for. Nothing is stored.
package componentstatus
