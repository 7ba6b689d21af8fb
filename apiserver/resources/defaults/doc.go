// Package defaults fills in what a client left out of an object, as Kubernetes v1.36 does with its
// default feature gates. Upstream keeps the rules in pkg/apis/<group>/<version>/defaults.go and the
// places they apply to in zz_generated.defaults.go; here a kind's function says both.
//
// It guarantees:
//
//  1. Pure: no I/O, no state but a cache of what Go types look like. The one clock it reads is for
//     device taints without a time.
//  2. Idempotent: defaulting twice is defaulting once.
//  3. It only fills what is empty; what a client said stays, but for upstream's exceptions: quantities
//     finer than a thousandth are rounded up, a namespace's name label is forced, a service without
//     session affinity loses its affinity's configuration, and of two fields that say one thing the
//     authoritative one wins (alias.go).
//  4. An object shares no memory between two of its fields afterwards, but for the labels of a Job.
//  5. Empty lists that JSON shows are null, as in answers of a server that stores protobuf (empty.go).
//  6. No panic on any object of the right type, however odd.
//
// Not here: what needs the cluster (addresses and ports of services, in allocation) and what
// admission adds (priority, tolerations, storage classes). ConfigMaps have no entry: upstream makes
// their nil data an empty map, which no encoding shows.
package defaults
