// Package usage measures what objects need of their namespace, and checks it against the namespace's
// quotas (AS pkg/quota/v1, pkg/admission/plugin/resourcequota; K pkg/quota/v1/evaluator/core).
//
// It guarantees:
//
//  1. It is pure: objects and quotas in, lists of quantities out. It changes nothing that it is given
//     and shares no memory with it, but for the quantities' own.
//  2. Every object counts for count/<resource>.<group>. Pods, services, claims of volumes and of devices
//     count for more; secrets, configmaps, replicationcontrollers and resourcequotas also by their old names.
//  3. Charge and Total agree: what a create charges is what the object counts for once it is stored.
//  4. Only what a quota's status.hard names is charged, and nothing is denied by a quota whose status
//     says nothing yet.
//  5. Errors are in upstream's words, with names in alphabetical order.
//
// Not modelled: resources that are limited by default (AdmissionConfiguration), and devices that pods
// ask for as extended resources.
package usage
