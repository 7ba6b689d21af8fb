// Package kindtest shows tests the hooks of the built-in kinds, as the packages of the groups have them. The packages
// below it hold the scenarios of all kinds by concern: what is defaulted, prepared, validated and printed.
//
// It guarantees:
//
//  1. Hooks are not adapted to versions: they take the Go type that they are written for.
//  2. Kinds come in the order of their group, version and kind.
package kindtest
