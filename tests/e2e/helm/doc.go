// Package helm drives the server with Helm's own library, as the helm command does.
package helm
