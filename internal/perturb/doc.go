// Package perturb looks for single faults that change the result of a command: its exit code, or the objects that it
// leaves behind.
//
// It guarantees:
//
//  1. A finding is a run in which the fault was injected, and whose result differs from both undisturbed runs.
//  2. The plan of a finding, on a new server, selects the same request again if the command sends the same requests.
//  3. The same seed tries the same faults in the same order, if the undisturbed runs send the same requests.
package perturb
