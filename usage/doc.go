// Package usage measures the resources that objects use of their namespace's quotas, and checks them against the quotas
// (AS pkg/quota/v1, pkg/admission/plugin/resourcequota; K pkg/quota/v1/evaluator/core).
//
// It guarantees:
//
//  1. It is pure: objects and quotas in, lists of quantities out. It changes no argument and shares no memory with it,
//     except inside quantities.
//  2. Every object counts for count/<resource>.<group>. Pods, services, and claims of volumes and of devices count for
//     more; secrets, configmaps, replicationcontrollers and resourcequotas also by their old names.
//  3. CheckRequest and Total agree: a create adds the quantities that the object counts for once it is stored.
//  4. Only the names in a quota's status.hard are checked, and a quota whose status is empty denies nothing.
//  5. Errors have upstream's messages, with names in alphabetical order.
//
// Not modelled: resources that are limited by default (AdmissionConfiguration), and devices that pods request as
// extended resources.
package usage
