// Package assets makes the folder in which tools such as controller-runtime's envtest look for the binaries
// kube-apiserver, etcd and kubectl. The first two are links to this program, which does what its name says.
//
// It guarantees:
//
//  1. Ensure returns when the folder is complete. A file that is right is left alone, and others are replaced
//     atomically, so that Ensure can run concurrently with itself and with programs that run the files.
//  2. The name of a folder under the user's cache directory includes a digest of the version, the program's path and
//     the controllers: two programs, or two lists of controllers, have two folders.
//     Of a program that is copied, the digest of its content replaces the path.
//  3. No link leads to a link in such a folder, so that the folders may be in PATH.
//  4. ControllersOf returns the controllers that a folder was made for.
package assets
