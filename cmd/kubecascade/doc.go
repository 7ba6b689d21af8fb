// Command kubecascade is a Kubernetes API server with a working garbage collector, in one process.
//
// It guarantees:
//
//  1. Errors go to standard error and end it with exit code 1, or 2 if the command was used wrongly or
//     nothing could be found out; what it was asked for goes to standard output. Flags that can't be meant are errors before anything is opened or written.
//  2. serve prints one line when it is ready, and none before.
//  3. On SIGTERM or SIGINT serve ends its watches, finishes what is in flight within
//     --shutdown-timeout, and closes the storage; a second signal ends it at once.
//  4. conformance judges no server that isn't named to it, ends with exit code 1 if a case fails and
//     130 if the run is interrupted, and cleans up in both cases. So does conformance diff.
package main
