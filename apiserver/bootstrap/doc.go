// Package bootstrap creates the objects that every cluster has besides namespaces: default roles, priority classes,
// flow schemas and priority levels, and the service "kubernetes".
//
// It guarantees:
//
//  1. Existing objects are not changed, except for default roles and bindings, which get missing rules and subjects.
//  2. Several servers may create the objects on one store at the same time.
//  3. The objects are admitted, validated and stored like those of clients.
package bootstrap
