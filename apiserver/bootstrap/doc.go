// Package bootstrap makes the objects that a cluster has from its beginning besides namespaces: default roles, priority
// classes, flow schemas and priority levels, and the service "kubernetes".
//
// It guarantees:
//
//  1. An object that is there stays as it is, but for default roles and bindings, which get the rules and subjects that
//     they lack.
//  2. Several servers may do so over one store at the same time.
//  3. The objects are admitted, validated and stored as those of clients.
package bootstrap
