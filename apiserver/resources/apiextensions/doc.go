// Package apiextensions has the kinds of the group apiextensions.k8s.io: CustomResourceDefinition.
//
// It guarantees:
//
//  1. What package entry states for the packages of groups.
//  2. CustomResourceDefinitions are validated by apiextensions-apiserver.
package apiextensions
