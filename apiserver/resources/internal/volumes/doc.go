// Package volumes has the common code of pods, PersistentVolumes, their claims and VolumeAttachments: volume sources
// and claim specs, their defaults and their validation.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, order and messages. Their number is limited while they are collected.
package volumes
