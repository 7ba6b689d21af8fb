// Package core has the kinds of the core group: pods, services, volumes, namespaces and related kinds; and Event of the
// group events.k8s.io, which is another form of the core group's.
//
// It guarantees:
//
//  1. A kind is in one file, or in several files whose names begin with its own: its entry, its defaults, the fields
//     that writes may change, its validation, its warnings and its printed columns. Code that several kinds of the
//     group share is in other files.
//  2. Resources lists the kinds, one in each line.
//  3. The hooks have the guarantees that package entry states.
//  4. A token is for the present account, and contains its UID; one that is bound to an object contains the UID of an
//     object that existed when the token was signed. Tokens are not stored (K
//     pkg/registry/core/serviceaccount/storage/token.go).
//  5. A binding is decided on the state of the pod that it changes. A pod is bound once. An eviction is subtracted from
//     its disruption budget before the pod is deleted, and an evicted pod has the condition DisruptionTarget, unless the
//     eviction is a dry run. If the decision depends on the state of the pod, it is deleted only in that state (K
//     pkg/registry/core/pod/storage).
//  6. An allocated cluster IP or node port is in the range, free, and unique in the service; one that a client requests
//     is checked in the same way, and kept or rejected. It is allocated because a stored service has it: there is no
//     other state. A service is stored only if no service has been written since the allocations were read (K
//     pkg/registry/core/service/storage/alloc.go).
package core
