// Package bootstrap creates the objects that every cluster has besides namespaces: default roles, priority classes,
// flow schemas and priority levels, the service "kubernetes" and its endpoints, the default ServiceCIDR, and the
// certificate authorities that extension API servers trust.
//
// It guarantees:
//
//  1. Existing objects are not changed, with these exceptions: default roles and bindings get missing rules and
//     subjects, the default ServiceCIDR gets a missing condition, and the ConfigMap extension-apiserver-authentication
//     gets missing entries. The endpoints of "kubernetes" are overwritten.
//  2. Several servers may create these objects in one store at the same time.
//  3. A server that shuts down is removed from the endpoints, unless it is the last one.
//  4. The objects are admitted, validated and stored like those of clients.
package bootstrap
