// Package componentstatus makes the objects of componentstatuses (K pkg/registry/core/componentstatus).
//
// It guarantees:
//
//  1. The objects are made when they are requested. Nothing is stored.
package componentstatus
