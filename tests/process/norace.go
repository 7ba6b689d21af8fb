//go:build !race

package process

// race are flags of go build with which the server is built as the tests are.
var race []string
