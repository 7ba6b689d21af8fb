// Package volumes has what pods, PersistentVolumes, their claims and VolumeAttachments share: sources of volumes and
// specs of claims, their defaults and their validation.
//
// It guarantees:
//
//  1. Pure: no I/O, no state, no clock.
//  2. Errors have upstream's paths, order and messages, and are bounded while they are collected.
package volumes
