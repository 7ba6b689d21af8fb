// Command platforms type-checks all packages of the module, with their tests, for other systems than this one. Its
// arguments are platforms like windows/amd64. make check runs it.
//
// It guarantees:
//
//  1. Whatever doesn't compile for a platform because of a name or a type is printed, with its file and line, and the
//     exit code is 1. That is also so for tests.
//  2. It needs no build cache of the platform: all dependencies are read from their source, without the bodies of their
//     functions. So it takes seconds where go vet, which compiles them, takes minutes on a machine that has built
//     nothing for the platform yet.
//
// It doesn't analyze the code as go vet does: see make platforms.
package main
