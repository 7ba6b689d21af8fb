// Package rejected is a module of its own to build the newest etcd that the server doesn't work with.
package rejected
