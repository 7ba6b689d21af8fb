// Package helm drives the server with Helm's own library, as the helm command does. It is a module of
// its own: Helm brings as much along as all other tests together, and has versions of its own of what
// they need, so it is run by make helm and not by make test.
package helm
