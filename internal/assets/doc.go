// Package assets makes the directory in which tools such as controller-runtime's envtest look for the binaries
// kube-apiserver, etcd and kubectl. The first two are links to this program, whose role depends on the name by which it
// is called.
//
// It guarantees:
//
//  1. Ensure returns when the directory is complete. A correct file is not changed, and others are replaced atomically,
//     so that Ensure can run concurrently with itself and with programs that run the files.
//  2. The name of a directory under the user's cache directory includes a digest of the version, the program's path and
//     the controllers: two programs, or two lists of controllers, have two directories.
//     For a copied program, a digest of its content replaces the path.
//  3. No link leads to a link in such a directory, so that the directories may be in PATH.
//  4. ControllersOf returns the controllers that a directory was made for, unless the environment names others.
//  5. EnsurePlugin and InstallPlugin make the links by which kubectl finds the program as a plugin, under the same rules.
//  6. On systems with symbolic links, only links are replaced or removed: the file of another program stays.
package assets
