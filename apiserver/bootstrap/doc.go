// Package bootstrap creates the objects that every cluster has besides namespaces: default roles, priority classes,
// flow schemas and priority levels, the service "kubernetes" and its endpoints, the default ServiceCIDR, and what
// extension API servers trust.
//
// It guarantees:
//
//  1. Existing objects are not changed, except for default roles and bindings, which get missing rules and subjects,
//     the endpoints of "kubernetes", which are written as they should be, the default ServiceCIDR, which gets a missing
//     condition, and the ConfigMap extension-apiserver-authentication, which gets missing entries.
//  2. Several servers may do so on one store at the same time.
//  3. A server that has ended is removed from the endpoints, unless it was the last one.
//  4. The objects are admitted, validated and stored like those of clients.
package bootstrap
