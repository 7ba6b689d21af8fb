// Package apps has the kinds of the group apps: the controllers of pods that replace each other.
//
// It guarantees:
//
//  1. What package entry states for the packages of groups.
package apps
