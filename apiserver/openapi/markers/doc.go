// Package markers has the properties that the Go types of the API declare only in comments, which reflection can't
// read: +listType, +listMapKey, +mapType, +structType, +default, +union, +enum, and +optional or +required where they
// contradict the json tag.
//
// markers.json is extracted from the sources of the module versions in go.mod by go generate. A test fails if it is
// stale. It has no descriptions, which come from the types' SwaggerDoc methods.
//
// It guarantees:
//
//  1. The file is decoded once, at the first call of Load, and not at start-up.
//  2. The result of Load is immutable and may be read by any goroutine.
package markers

//go:generate go test . -run ^TestMarkersAreUpToDate$ -update
