// Package selection finds the objects that a command line names, as kubectl does: KIND/NAME, KIND NAME, KIND,KIND NAME,
// a label selector, all of a kind, or files.
//
// It guarantees:
//
//  1. Parse checks arguments and reads files before anything is requested from a server. All its errors are of usage.
//  2. Kinds are resolved by the resources that the server serves. Objects are in the order of the command line.
//  3. Namespaced objects have the namespace of the command. An object of a file may have its own, unless the command's
//     is explicit.
//  4. Files are chosen as by kubectl's --filename and --recursive: files, patterns, directories and standard input are
//     read, in YAML or JSON, with several documents. Of directories only files whose names end with .json, .yaml or
//     .yml are read. URLs are an error. Lists are replaced by their objects, at any depth. Each object has an
//     apiVersion, a kind and a name, or the error names the file.
package selection
