// Package helm drives the server with Helm's own library, as the helm command does. It is a module of its own, run by
// make e2e and not by make test: Helm has as many dependencies as all other tests together, in other versions.
package helm
