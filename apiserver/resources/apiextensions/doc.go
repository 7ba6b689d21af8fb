// Package apiextensions has the kinds of the group apiextensions.k8s.io: CustomResourceDefinition.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//  2. CustomResourceDefinitions are validated by apiextensions-apiserver.
package apiextensions
