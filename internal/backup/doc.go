// Package backup reports the content of a backup of a cluster: a snapshot or a database of etcd (package
// storage/snapshot).
//
// It guarantees:
//
//  1. A file that is inspected is only read. Save writes the snapshot to a file with another name, and renames that
//     file when all of the snapshot has arrived and Inspect can read it.
//  2. Each key of the file is counted once: as an object of a resource, as other data of the cluster such as allocated
//     ranges, or as a key of another program. Nothing that can't be read is left out: it is in the report with the
//     reason.
//  3. An object counts as readable if the server would read it, as it is decoded by the same code.
//  4. Problems are those that lint finds (gc/explain). If an object of a resource can't be read, references to that
//     resource are not checked.
//  5. Lists in a report are sorted. A list of objects has at most Most entries, the list of findings at most
//     MostFindings; the report also has the total numbers.
package backup
