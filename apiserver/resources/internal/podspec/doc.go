// Package podspec has the common code of pods and workload kinds: defaults, fields that writes may change, validation,
// warnings and pull policies of pod specs and pod templates; and of PersistentVolumes, their claims and
// VolumeAttachments: volume sources and claim specs, their defaults and their validation.
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
