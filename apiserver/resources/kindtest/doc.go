// Package kindtest gives tests the hooks of the built-in kinds as the packages of the groups declare them. The packages
// below it have scenarios for all kinds: defaults, preparation, validation and printing.
//
// It guarantees:
//
//  1. Hooks are not adapted to versions. They accept only the Go type for which they are written.
//  2. Kinds are sorted by group, version and kind.
package kindtest
