// Package manifest reads which objects files declare, as kubectl's --filename and --recursive choose them.
//
// It guarantees:
//
//  1. Files, patterns, directories and standard input are read, in YAML or JSON, with several documents. Of directories
//     only files whose names end with .json, .yaml or .yml are read. URLs are an error.
//  2. Lists are replaced by their objects, at any depth. Items of a typed list need no type.
//  3. Each object has an apiVersion, a kind and a name, or Read returns an error that names the file.
package manifest
