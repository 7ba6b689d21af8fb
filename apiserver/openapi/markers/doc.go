// Package markers holds what the Go types of the API say in comments only, and reflection
// therefore cannot see: +listType, +listMapKey, +mapType, +structType, +default, +union, +enum,
// and +optional or +required where they contradict the json tag.
//
// markers.txt is extracted from the sources of the module versions in go.mod; `go generate`
// makes it anew, and a test fails when it is stale. It carries no prose: descriptions come from
// the types' SwaggerDoc methods.
//
// Its form is a line a fact, words separated by spaces, an enum's values by commas:
//
//	package k8s.io/api/core/v1
//	enum Protocol SCTP,TCP,UDP
//	type ContainerPort mapType=atomic
//	 protocol default="TCP" optional
//
// An indented line is a field of the type above it, by its JSON name.
//
// It guarantees:
//
//  1. Parsing happens once, when Load is first called, and not at start-up.
//  2. What Load returns is never changed afterwards and may be read by any goroutine.
package markers

//go:generate go run ./generate
