// Package resources is the table of types: one entry (Resource) for every served
// group-version-resource, with all that handlers must know of it. Handlers know no kinds.
//
// It guarantees:
//
//  1. Builtin lists what Kubernetes v1.36 serves by default, name by name and verb by verb. Every adds the versions
//     that it serves when asked to, of the resources that are here; what isn't served is Off, and All lists none of it.
//  2. An entry never changes once it is in a table. A change of a CustomResourceDefinition makes
//     new entries.
//  3. Readers of Types never wait and never lock: they see one whole table, the old or the new.
//  4. Everything that shows an order has upstream's: groups by priority, versions by priority,
//     resources by name.
//  5. Entries that share a Collection share Stored, which is the kind that kube-apiserver writes
//     to etcd, so the bytes are the same.
//  6. What a kind does beyond what all kinds do is in its hooks (package hooks): no other package asks which kind an
//     entry is.
//  7. Conversions are upstream's: what one version has no field for travels in annotations.
//
// A built-in kind stands in one file of its group's package (core/configmap.go): its entry, its defaults, what writes
// may change, validation, warnings and printed columns. What groups share is below internal:
//
//	entry       the types of entries, and what entries are made with
//	internal    check (values and fields), podspec, volumes, event, serviceip, defaulting, warnings, printing
//	objecttest  objects for tests
//	kindtest    scenarios of all kinds: what is defaulted, prepared, validated and printed
//
// The files here:
//
//	builtin.go  the groups
//	entry.go    the types of package entry, for the rest of the server
//	wire.go     hooks are adapted to the versions that objects come in
//	version.go  versions that are served when asked for
//	serving.go  what is asked for
//	types.go    the table at run time
package resources
