// Package entry has the type of an entry of the table of types, Resource, and functions with which the packages of the
// groups make entries. Group completes a group's entries. typed.go makes hooks from functions for a Go type. hooks.go
// and request.go have the interfaces for behaviour that is specific to a kind. Others are for printed columns and
// cells, conversions between versions with the same JSON (Recast), selectable fields and the scheme.
//
// Upstream has the code of hooks in pkg/apis/<group>/<version>/defaults.go,
// pkg/registry/<group>/<resource>/strategy.go, pkg/api/<resource>/warnings.go, pkg/apis/<group>/validation and
// pkg/printers/internalversion. The hooks here have the behaviour of v1.37 with its default feature gates, and are in
// the package of the kind's group.
//
// It guarantees, for an entry:
//
//  1. It is immutable once it is in a table.
//  2. Entries with the same Collection have the same Stored, the kind that kube-apiserver writes to etcd.
//
// The package of a group guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//
// The hooks of built-in kinds guarantee:
//
//  1. They are pure: no I/O, no state. The clock is an argument of a group's Resources. Of all defaults, only the time
//     of device taints reads the clock.
//  2. Defaulting is idempotent and sets only empty fields. Upstream's exceptions are: quantities with more than three
//     decimals are rounded up; a namespace's name label is always set; the configuration of session affinity is removed
//     from a service without session affinity; of two fields with the same meaning, the authoritative one is copied to
//     the other.
//  3. After Prepare no defaulting is needed. No hook changes the old object. A hook shares memory with it only if
//     the new object is not changed further. Callers do the following for all kinds: they empty the status on create,
//     keep it on updates of kinds with a status subresource (except for OwnStatus and Part), keep the spec on writes of
//     the status, and set metadata.generation.
//  4. Validation changes nothing. Errors have upstream's order, paths, types, values and messages (0-06, 0-07). The
//     time is not quadratic in the length of a list. Package invalid limits the errors of a response. Metadata is
//     validated elsewhere, except for that of embedded templates. Paths are those of the version that is
//     closest to upstream's internal types: autoscaling/v2 for HorizontalPodAutoscaler, core v1 for Event. Other
//     packages validate properties that depend on the cluster (allocated addresses and ports, referenced objects), and
//     the expressions of CustomResourceDefinitions. The top of a kind's file lists the properties that are not
//     validated at all.
//  5. Warnings have upstream's messages, in a deterministic order.
//  6. A row of a table has the cells of -o wide, one for each column. As in upstream, the row of an IPAddress also has
//     an age without a column. Ages depend on an argument.
//  7. Hooks do not panic on any object of their Go type. For objects of other types they change nothing and return no
//     errors, but cells panic.
//
// Package registry calls Hooks, and depends on no kind. The packages of groups import neither registry nor net/http.
// Registry guarantees:
//
//  1. Begin, and the methods of Request and Server, receive and return decoded objects of the stored version. Hooks may
//     change them.
//  2. Begin is called once for each attempt to write the object itself, never for its subresources. Finish of its
//     result is called exactly once, with the result of the write, even if the write panics.
//  3. The transaction of the write compares the guards that Fill returns. If one does not hold, Fill is called again,
//     with a new copy of the object, until the request's deadline. If webhooks may be called for the object, Fill is
//     first called with a copy of the last filled object.
//  4. The result of Create is the response to the client. Only methods of Request store objects.
//  5. Dry runs call the same hooks. Request and Write then store nothing.
package entry
