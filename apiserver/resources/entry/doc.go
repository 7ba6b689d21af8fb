// Package entry has the type of an entry of the table of types, Resource, and what the packages of the groups make
// entries with: completion of a group's entries (Group), hooks from functions for a Go type (typed.go),
// the interfaces for behaviour that is specific to a kind (hooks.go, request.go), printed columns and cells,
// conversions between versions with the same JSON (Recast), selectable fields and the scheme.
//
// Upstream has the code of hooks in pkg/apis/<group>/<version>/defaults.go,
// pkg/registry/<group>/<resource>/strategy.go, pkg/api/<resource>/warnings.go, pkg/apis/<group>/validation and
// pkg/printers/internalversion. Here it is that of v1.37 with its default feature gates, and a kind's hooks are in its
// group's package.
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
//  1. They are pure: no I/O, no state; the clock is an argument of a group's Resources. The only default that reads the
//     clock is the time of device taints.
//  2. Defaulting is idempotent and only sets empty fields, except for upstream's exceptions: quantities with more than
//     three decimals are rounded up, a namespace's name label is always set, a service without session affinity loses
//     the configuration of it, and of two fields with the same meaning the authoritative one is copied to the other.
//  3. After PrepareCreate no defaulting is needed. No hook changes the old object. Memory is shared with it only if the
//     new object is not changed further. The following is done for all kinds elsewhere: status is emptied on create and
//     kept on updates of kinds with a status subresource (except for OwnStatus and Part), spec is kept on writes of the
//     status, and metadata.generation is set.
//  4. Validation changes nothing. Errors have upstream's order, paths, types, values and messages (0-06, 0-07).
//     The time is not quadratic in the length of a list. Package invalid limits the errors of a response. Metadata is
//     validated elsewhere, except for that of embedded templates. Paths are those of the version that is
//     closest to upstream's internal types: autoscaling/v2 for HorizontalPodAutoscaler, core v1 for Event. Properties
//     that depend on the cluster (allocated addresses and ports, referenced objects) and the expressions of
//     CustomResourceDefinitions are validated elsewhere. The top of a kind's file lists the properties that are not
//     validated at all.
//  5. Warnings have upstream's messages, in a deterministic order.
//  6. A row of a table has the cells of -o wide, one for each column. The exception is IPAddress, whose row has an
//     additional age without a column (as upstream). Ages depend on an argument.
//  7. Hooks do not panic on any object of their Go type. Objects of other types are not changed and have no errors, but
//     cells panic for them.
//
// Package registry calls Hooks, and depends on no kind. The packages of groups import neither registry nor
// net/http. It is guaranteed:
//
//  1. Begin, and the methods of Request and Server, get and return decoded objects of the stored version. The hook may
//     change them.
//  2. Begin is called once for each attempt to write the object itself, never for its subresources. Finish of its
//     result is called exactly once, with the outcome of the write, even if the write panics.
//  3. The guards that Fill returns are compared in the transaction of the write. If one does not hold, Fill is called
//     again, with a new copy of the object, until the request's deadline. If webhooks were called for the filled
//     object, Fill is first called with a copy of that.
//  4. The result of Create is the response to the client. Only the methods of Request store anything.
//  5. A dry run calls the same hooks; Request and Write store nothing for it.
package entry
