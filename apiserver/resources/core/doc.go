// Package core has the kinds of the core group: pods, services, volumes, namespaces and related kinds. It also has
// Event of the group events.k8s.io, which is another form of the core group's Event.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. A token contains the UID of its account at the time of signing. A token that is bound to an object contains the
//     UID of an object that existed at that time. Tokens are not stored (K
//     pkg/registry/core/serviceaccount/storage/token.go).
//  5. A binding is decided on the state of the pod that it changes. A pod is bound once. An eviction is subtracted from
//     its disruption budget before the pod is deleted, and the evicted pod gets the condition DisruptionTarget. A dry
//     run does neither. If the decision depends on the pod's state, the pod is deleted only in that state (K
//     pkg/registry/core/pod/storage).
//  6. An allocated cluster IP or node port is in the range, free, and unique in the service. A requested one is checked
//     in the same way, and kept or rejected. The stored services are the only record of allocations. A service is
//     stored only if no service has been written since the allocations were read (K
//     pkg/registry/core/service/storage/alloc.go).
package core
