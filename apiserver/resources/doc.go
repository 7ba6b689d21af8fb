// Package resources is the table of types. It has one entry (Resource) for each served group-version-resource, with all
// properties of the type on which handlers depend. Handlers do not depend on kinds.
//
// It guarantees:
//
//  1. Builtin returns the resources that Kubernetes v1.37 serves by default, with the same names and verbs. Every also
//     returns the optional versions of these resources that v1.37 serves on request, with the exceptions in version.go.
//     Entries that are not served are Off, and All omits them.
//  2. An entry is immutable once it is in a table. A change of a CustomResourceDefinition makes new entries.
//  3. Readers of Types never wait and never lock: they read the whole table as it was before or after a change.
//  4. Lists have upstream's order: groups by priority, versions by priority, resources by name.
//  5. Entries with the same Collection have the same WrittenKind, the kind that kube-apiserver writes to etcd, so the
//     bytes in etcd are the same. CustomResourceDefinitions are written as v1beta1, which is not served. They are
//     converted once, when they arrive from etcd (Resource.Written). Lists and watches send the converted bytes.
//  6. Behaviour that is specific to a kind is in its hooks (entry.Hooks): no handler depends on the kind of an entry.
//  7. Conversions are upstream's: annotations keep the fields that another version does not have.
//
// A built-in kind is in one file of its group's package (core/configmap.go): its entry, its defaults, the fields that
// writes may change, validation, warnings and printed columns. The directories besides the groups:
//
//	entry       the types of entries, and functions that make entries
//	internal    code that groups share: check (values and fields), podspec (pods and volumes), declared (generated rules)
//	kindtest    scenarios of all kinds: defaults, preparation, validation and printing
//
// The files here:
//
//	builtin.go  the groups
//	entry.go    the types of package entry, for the rest of the server
//	wire.go     adapts hooks to the versions of objects
//	version.go  optional versions
//	serving.go  --runtime-config
//	types.go    the table at run time
//	upgrade.go, transcode.go: earlier versions and formats of stored objects
//	priority.go, retired.go: the order of groups; versions that are no longer served
package resources
