// Package kindtest passes the hooks of the built-in kinds to tests, as the packages of the groups declare them. The
// packages below it have the scenarios of all kinds by concern: defaults, preparation, validation and printing.
//
// It guarantees:
//
//  1. Hooks are not adapted to versions: they accept the Go type for which they are written.
//  2. Kinds are sorted by group, version and kind.
package kindtest
