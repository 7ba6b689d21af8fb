// Package podspec has the common code of pods, workload kinds and volumes. For pod specs and pod templates it has
// defaults, the fields that writes may change, validation, warnings and pull policies. For PersistentVolumes, their
// claims and VolumeAttachments it has the defaults and the validation of volume sources and claim specs.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Defaults are idempotent and only set empty fields. Of two fields with the same meaning the authoritative one is
//     copied to the other.
//  3. Errors and warnings have upstream's paths, order and messages. Their number is limited while they are collected.
//     The time is not quadratic in the length of a list.
//  4. No panic on any spec.
package podspec
