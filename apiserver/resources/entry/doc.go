// Package entry has the type of an entry of the table of types, Resource, and what the packages of the groups make
// entries with: completion of a group's entries (Group), hooks of functions that are written for a Go type (typed.go),
// conversions between versions that are written alike (Recast), selectable fields and the scheme.
//
// Upstream keeps what hooks do in pkg/apis/<group>/<version>/defaults.go, pkg/registry/<group>/<resource>/strategy.go,
// pkg/api/<resource>/warnings.go, pkg/apis/<group>/validation and pkg/printers/internalversion. Here it is v1.36 with
// its default feature gates, and all of a kind's stand in its group's package.
//
// It guarantees, of an entry:
//
//  1. It never changes once it is in a table.
//  2. Entries that share a Collection share Stored, which is the kind that kube-apiserver writes to etcd.
//
// The hooks of built-in kinds guarantee:
//
//  1. Pure: no I/O, no state; the clock is an argument of a group's Resources. The one clock that a default reads is
//     for device taints without a time.
//  2. Defaulting is idempotent and only fills what is empty, but for upstream's exceptions: quantities finer than a
//     thousandth are rounded up, a namespace's name label is forced, a service without session affinity loses its
//     affinity's configuration, and of two fields that say one thing the authoritative one wins.
//  3. What PrepareCreate leaves needs no defaulting. No hook changes the old object, and what is taken from it is
//     shared only where the new object is not changed further. Status is emptied on create and kept on updates of kinds
//     with a status subresource (OwnStatus and Part excepted), spec is kept on writes to status, and
//     metadata.generation is counted, for all kinds alike, elsewhere.
//  4. Validation changes nothing. Errors come in upstream's order, with upstream's paths, types, values and messages
//     (0-06, 0-07); they are bounded while they are collected, and the time doesn't grow with the square of a list's
//     length. Metadata is validated elsewhere, but for that of a template inside an object. Paths are
//     those of the version that is closest to upstream's internal types: autoscaling/v2 for HorizontalPodAutoscaler,
//     core v1 for Event. What needs the cluster (allocated addresses and ports, referenced objects) or an expression
//     compiler (CEL) is validated elsewhere; what isn't validated at all is listed at the top of a kind's file.
//  5. Messages of warnings are upstream's, and come in an order that doesn't vary.
//  6. A row of a table has the cells of -o wide: one a column, but for IPAddress, whose row has an age that no column
//     heads (as upstream). Ages count from an argument.
//  7. No panic on any object of the hook's Go type, however odd. Objects of other types pass unchanged and without
//     errors, but for cells, which panic.
package entry
